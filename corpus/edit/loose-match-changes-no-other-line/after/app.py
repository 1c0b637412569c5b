title = “x” 	

class A:
	def run(self):  
		if a:
		    stop()
		return ‘y’	
