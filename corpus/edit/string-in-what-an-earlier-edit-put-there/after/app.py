a = compute(2)
