def load_user(id):
    row = db.get(id)
    check(row)
    return row
