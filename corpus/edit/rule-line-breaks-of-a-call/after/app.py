total = add(
    one,
    two,
    three,
)
show(total)
