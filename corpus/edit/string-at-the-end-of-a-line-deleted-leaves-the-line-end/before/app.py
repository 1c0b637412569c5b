total = 1 # sum
print(total)
