text = 'one label = two'
label = 'three'
