def first():
    value = 1
    return value + 1

def second():
    return 2
