def run():
    begin()
    one()
    two()
    three()
    end()
