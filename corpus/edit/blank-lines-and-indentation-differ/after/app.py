if a:
    go()

    wait()
    stop()
