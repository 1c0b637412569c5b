if a:
    stop()
    go()
