name = "lamp"
on = False
