def pay(order):
    cart = Cart(order)
    cart.lock()
    return order.close()
