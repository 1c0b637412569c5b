if a:
    close(1)
    return
if b:
    close(2)
    return
