def pay(order, tax):
    total = compute_total(order, tax)
    print(total)
