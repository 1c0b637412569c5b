scоpe = 1
