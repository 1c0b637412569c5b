def load():
    try:
        repo = open_repo(path)
    except NotFound:
        pass
    return repo
