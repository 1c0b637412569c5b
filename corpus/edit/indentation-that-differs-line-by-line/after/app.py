if a:
    go(1)
    if b:
        stop(1)
        wait()
