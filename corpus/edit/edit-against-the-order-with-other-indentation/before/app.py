class Door:
    def open(self): ...

if door:
    def open():
        lock()

class Store:
    def save(self):
        pass
