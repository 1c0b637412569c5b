line 1
line 2
line 3
line 4
line 5
line 6
line 7
line 8
go()
line 10
line 11
line 12
line 13
line 14
line 15
line 16
line 17
line 18
go()
end()
