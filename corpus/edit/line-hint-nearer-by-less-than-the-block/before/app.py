a = 1
go()
stop()
b = 2
c = 3
go()
stop()
