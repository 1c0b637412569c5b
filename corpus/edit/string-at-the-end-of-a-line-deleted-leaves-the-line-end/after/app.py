total = 1
print(total)
