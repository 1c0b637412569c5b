print("hi")
x = 1
