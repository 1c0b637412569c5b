if a:
    close(1)
    if b:
        close()
