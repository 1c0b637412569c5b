def go():
    start()
    one()
    two()
    three()
    halt()

def more():
    stop()
