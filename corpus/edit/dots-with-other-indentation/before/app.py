class A:
    def run():
        start()
        one()
        stop()
