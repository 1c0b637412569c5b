def f():
    total = 1
    print(total)
