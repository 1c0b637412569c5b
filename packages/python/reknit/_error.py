"""The exceptions of the package."""


class Error(Exception):
    """Something that cannot be read or done.

    `kind` is a word to match on, and `hint` says what to do about it.

    >>> json = reknit.PartialJson()
    >>> json.push('{"a": ')
    >>> try:
    ...     json.finish()
    ... except reknit.Error as error:
    ...     print(error.kind)
    truncated
    """

    kind: str
    hint: str
    message: str

    def __init__(self, message: str, kind: str, hint: str) -> None:
        # All of them are arguments of the exception, so that it can be pickled.
        super().__init__(message, kind, hint)
        self.message = message
        self.kind = kind
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}"


class InUseError(Error):
    """Another thread is using the same object right now."""


for _class in (Error, InUseError):
    _class.__module__ = "reknit"
