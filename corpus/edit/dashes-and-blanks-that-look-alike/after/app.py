# 1990–1999: the years
run(1)
