if a:
    say(“hi”)
    stop(1)
