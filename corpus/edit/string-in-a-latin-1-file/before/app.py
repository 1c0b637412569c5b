# café
x.menu = 1
