done()
wait()
done()
