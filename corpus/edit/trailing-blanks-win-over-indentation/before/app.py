close()  
if b:
    close()
