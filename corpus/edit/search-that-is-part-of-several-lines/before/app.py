if price: log(price)
price = 3
log(price) # again
