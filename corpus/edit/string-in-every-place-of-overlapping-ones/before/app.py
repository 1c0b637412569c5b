aaaa
