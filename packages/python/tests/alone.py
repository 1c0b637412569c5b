"""Run by `cargo xtask python` tests in an environment that has the wheel and nothing else."""

import importlib.metadata
import sys

import reknit

BODY = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

text, end = reknit.read([BODY[:20], BODY[20:]])
assert text == reknit.Text("Hi"), text
assert isinstance(end, reknit.End) and end.message.status == "stopped", end
wanted = [need for need in importlib.metadata.requires("reknit") or [] if "extra ==" not in need]
assert wanted == [], wanted
try:
    import reknit.arrow

    reknit.arrow.messages(None, "raw")  # type: ignore[call-overload]
except ImportError as error:
    assert "pip install reknit[arrow]" in str(error), error
else:
    raise AssertionError("pyarrow is not installed here")
print(f"ok   the wheel alone, in Python {sys.version.split()[0]}")
