if a:
    close()
    if b:
        close()
