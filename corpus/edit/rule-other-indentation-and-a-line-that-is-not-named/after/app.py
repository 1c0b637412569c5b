class App:
    def make(self):
        app = create(
            name=self.name,
            color=self.color,
            pretty=self.pretty,
            width=self.width,
            height=self.height,
        )
        return app
