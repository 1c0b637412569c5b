close(1)
if b:
    close()
