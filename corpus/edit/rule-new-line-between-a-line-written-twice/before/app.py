def run(self):
    self.load()
    self.check()
    self.save()
    return self
