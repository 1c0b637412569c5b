def run():
    go()
    return 1
