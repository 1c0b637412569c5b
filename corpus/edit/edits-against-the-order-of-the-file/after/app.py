def first():
    return 10

def second():
    return 20
