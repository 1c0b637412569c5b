say(“it’s”)
stop()
