import shop

def pay(order):
    price = order.price
    tax = price * 0.19
    total = price + tax
    return total

main()
