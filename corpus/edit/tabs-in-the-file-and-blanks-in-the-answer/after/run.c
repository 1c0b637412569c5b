void run() {
	if (a) {
		if (b) {
			go();
		}
	}
}
