import os

main()
