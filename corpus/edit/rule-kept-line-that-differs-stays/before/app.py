def f(a):
    b = a + 1
    c = b * 2
    log(c)
    return c
