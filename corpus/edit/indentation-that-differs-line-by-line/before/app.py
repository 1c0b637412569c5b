if a:
    go()
    if b:
        stop()
