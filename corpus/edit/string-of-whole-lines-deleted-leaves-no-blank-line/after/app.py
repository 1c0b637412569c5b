def ship(order):
    send(order)
