import sys
main()
