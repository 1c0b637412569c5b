tick()
tick()
tick()
