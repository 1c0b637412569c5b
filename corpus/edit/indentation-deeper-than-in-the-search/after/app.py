class A:
    def run(self):
        if a:
            if b:
                go()

            stop()
