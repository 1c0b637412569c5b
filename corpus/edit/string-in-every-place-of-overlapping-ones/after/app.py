bb
