a = 2
go()
x
y
z
stop()
