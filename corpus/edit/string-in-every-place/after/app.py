begin()
wait()
if x: begin()
