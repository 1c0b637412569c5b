a = 1
stop()
c = 3
stop()
