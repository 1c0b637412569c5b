echo "stopped"
