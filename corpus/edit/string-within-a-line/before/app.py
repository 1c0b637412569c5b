grand_total = 1 # sum
