def f(c):
    if c == 1:
        add("one")
    elif c == 2:
        j = compute(c)
        add(j)
    return done(c)
