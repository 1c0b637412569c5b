def f():
    a()
    b()

def g():
    a()
    z()
