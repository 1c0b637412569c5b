def run():
    stop()
    return 1
