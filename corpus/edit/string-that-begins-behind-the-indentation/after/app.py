def f():
    total = 2
    print(total)
