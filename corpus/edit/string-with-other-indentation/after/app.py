def run():
    if a:
        stop()
        go()
