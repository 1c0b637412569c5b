def load():
    try:
        repo = open_repo(path)
    except NoRepo:
        pass
    return repo
