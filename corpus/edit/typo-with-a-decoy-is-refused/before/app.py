def pay(order):
    price = order.price
    tax = price * 0.19
    total = price + tax
    return total

def pay(order):
    price = order.price
    tax = price * 0.07
    total = price + tax
    return total
