class A:
    def run(self):
        x = 0

class B:
    def run(self):
        x = 0
