total = add(one, two)
show(total)
