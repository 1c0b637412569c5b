title = “x” 	

class A:
	def run(self):  
		if a:
		    go()
		return ‘y’	
