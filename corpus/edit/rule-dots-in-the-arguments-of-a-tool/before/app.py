def total(rows):
    sum = 0
    for row in rows:
        sum += row.price
    return sum


def name():
    return 1
