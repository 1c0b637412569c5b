subtotal = 1
print(subtotal)
total = 2
print(total)
