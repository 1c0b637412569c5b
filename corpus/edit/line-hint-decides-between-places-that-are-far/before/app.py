def a():
    x = 0
    go(x)

def b():
    x = 1
    stop(x)

def c():
    x = 0
    go(x)
