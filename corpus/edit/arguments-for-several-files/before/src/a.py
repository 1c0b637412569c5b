a = 1
go()
x
y
z
go()
