name = "lamp"
on = True
