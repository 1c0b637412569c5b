import shop

def pay(order):
    price = order.price
    tax = order.tax(price)
    total = price + tax
    return total

main()
