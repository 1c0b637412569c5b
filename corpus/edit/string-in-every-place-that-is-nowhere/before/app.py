start()
wait()
