if a:
    say(“hi”)
    stop()
