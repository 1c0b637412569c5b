def run():
    if a:
        go()
