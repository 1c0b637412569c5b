def second():
    return 2

def first():
    return 1
