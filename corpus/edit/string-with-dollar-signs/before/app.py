x = price
