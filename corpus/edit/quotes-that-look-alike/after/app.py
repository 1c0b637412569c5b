say(“it’s”)
stop(1)
