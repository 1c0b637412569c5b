def first():
    return 7

def second():
    return 2
