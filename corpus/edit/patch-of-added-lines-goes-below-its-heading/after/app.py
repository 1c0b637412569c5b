class A:
    y = 0
    x = 0

class B:
    x = 0
