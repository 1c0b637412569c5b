class P:
    def power(self, expr):
        if "Pow" in self.known:
            return self.function(expr)
        return expr
