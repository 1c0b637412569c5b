a = 7
b = 8 # two
