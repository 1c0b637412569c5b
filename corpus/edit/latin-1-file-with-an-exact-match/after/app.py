# café
menu = 2
# naïve
