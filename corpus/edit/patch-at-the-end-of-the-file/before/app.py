first()
last()
