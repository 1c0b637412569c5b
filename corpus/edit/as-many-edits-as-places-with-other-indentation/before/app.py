if a:
    close()
    return
if b:
    close()
    return
