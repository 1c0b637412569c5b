subtotal = 1
print(subtotal)
