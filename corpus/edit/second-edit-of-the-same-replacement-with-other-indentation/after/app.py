def first():
    if ready():
        return 3

def second():
    return 2
