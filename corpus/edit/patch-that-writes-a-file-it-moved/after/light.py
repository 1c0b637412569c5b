on = True
