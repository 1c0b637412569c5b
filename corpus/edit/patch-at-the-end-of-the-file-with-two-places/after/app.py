done()
wait()
done()
more()
