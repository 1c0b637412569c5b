def pay(order, tax):
    total = compute_total(order, tax)
    print(total)

def pay(order, vat):
    total = compute_total(order, vat)
