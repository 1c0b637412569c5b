start()
wait()
if x: start()
