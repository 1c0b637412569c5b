limit = 10
