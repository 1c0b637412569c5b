x()
  a()
  a()
  b()
