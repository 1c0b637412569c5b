for row in others:
    row.check()

for row in rows:
    row.print()
