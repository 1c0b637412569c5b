a = 1
debug()
b = 2
