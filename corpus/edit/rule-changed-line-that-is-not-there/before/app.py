for line in text:
    author = get(line)
    counts[author] += 1
return counts
