# café
menu = 1
# naïve
