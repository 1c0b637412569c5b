on = False
