void run() {
  if (a) {
    go();
  }
}
