if a:
    go()

    stop()
