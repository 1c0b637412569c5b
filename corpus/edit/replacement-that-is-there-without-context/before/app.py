name = 'x'
limit = 20
