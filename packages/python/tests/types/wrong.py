"""What a type checker must refuse: every line has an error that is expected, and an expectation without one is an error."""

import reknit

reknit.read("text")  # type: ignore[arg-type]
reknit.read(5)  # type: ignore[arg-type]
reknit.Reply("antropic")  # type: ignore[arg-type]
reknit.Reply().push("text")  # type: ignore[arg-type]
reknit.Reply().message.status = "cut"  # type: ignore[misc]
reknit.read([], limits={"bytes": 5})  # type: ignore[arg-type]
