first()
last()
more()
