class A:
    def run():
        begin()
        one()
        end()
