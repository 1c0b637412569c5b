def run():
    start()
    one()
    two()
    three()
    stop()
