class A:
    y = 0

class B:
    x = 0
