import os
main()
