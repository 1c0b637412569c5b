def ship(order):
    debug(order)
    send(order)
