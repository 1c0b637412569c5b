# café
menu = 1
