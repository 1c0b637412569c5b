# café
x.menu = 2
