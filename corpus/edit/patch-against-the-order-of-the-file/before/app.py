class A:
    x = 0

class B:
    x = 0
