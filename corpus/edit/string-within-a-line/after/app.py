grand_total = 2 # sum
