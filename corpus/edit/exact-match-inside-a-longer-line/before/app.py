subtotal = 1
print(subtotal)
total = 1
print(total)
