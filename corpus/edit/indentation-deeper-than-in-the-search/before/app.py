class A:
    def run(self):
        if a:
            go()
