say('hi')
stop()
