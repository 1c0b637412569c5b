a = 2
x = compute(a, b)
