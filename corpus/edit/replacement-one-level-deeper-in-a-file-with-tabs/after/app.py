		go()
		stop()
