a = 1
new = 0
b = 3
c = 3
