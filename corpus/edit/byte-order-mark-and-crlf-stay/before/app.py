import os
main()
