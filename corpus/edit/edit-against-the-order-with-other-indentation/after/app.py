class Door:
    def open(self): ...

if door:
    def open():
        lock(1)

class Store:
    def save(self):
        flush()
