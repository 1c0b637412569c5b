import os
import json
import re

main()
