import os

a = 1

b = 2
