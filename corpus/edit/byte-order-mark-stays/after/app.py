import sys
main()
