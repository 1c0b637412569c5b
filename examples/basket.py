"""What is in a basket, and what it costs."""


class Basket:
    def __init__(self):
        self.items = []

    def add(self, name, price):
        self.items.append((name, price))

    def total(self):
        total = 0
        for name, price in self.items:
            total += price
        return total


class Receipt:
    def __init__(self, basket):
        self.basket = basket

    def total(self):
        return self.basket.total()
