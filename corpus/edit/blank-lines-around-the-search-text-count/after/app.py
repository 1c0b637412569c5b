import os
a = 2
b = 2
