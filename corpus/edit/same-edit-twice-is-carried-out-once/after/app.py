limit = 20
print(limit)
