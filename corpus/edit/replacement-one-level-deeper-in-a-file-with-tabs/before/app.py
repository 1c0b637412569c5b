	go()
	stop()
