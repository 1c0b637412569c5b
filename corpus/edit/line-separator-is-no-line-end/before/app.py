text = 'one label = two'
label = 'two'
