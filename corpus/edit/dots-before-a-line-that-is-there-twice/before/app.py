def run():
    start()
    one()
    two()
    three()
    stop()

def more():
    stop()
