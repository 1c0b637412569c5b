"""Reads 10,000 replies, and fails if the process is larger afterwards. Run by `test_behaviour.py`."""

import gc
import json
import pathlib
import resource

import pyarrow as pa
import reknit
import reknit.arrow

TEXT = json.dumps({"choices": [{"delta": {"content": "word " * 200}}]}).encode()
CALL = json.dumps({"path": "a.py", "content": "line\n" * 400})
DELTA = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "write", "arguments": CALL}}]}
BODY = b"data: %s\n\ndata: %s\n\n" % (
    TEXT,
    json.dumps({"choices": [{"delta": DELTA, "finish_reason": "tool_calls"}]}).encode(),
)


def read_some(count: int) -> None:
    for number in range(count):
        # Some are cut, and some are no replies.
        body = BODY if number % 3 else BODY[:900] if number % 2 else b"<html>"
        items = list(reknit.read([body[:500], body[500:]]))
        assert isinstance(items[-1], reknit.End)
        reply = reknit.Reply(native=True)
        changes = reply.push(body) + reply.finish()
        assert changes and reply.message.to_dict() and reply.messages
        partial = reknit.PartialJson()
        for at in range(0, len(CALL), 100):
            partial.push(CALL[at : at + 100])
            assert isinstance(partial.value, dict) and partial.changes is not None
        reknit.Tools("hermes").push("text <tool_call>")
        if number % 100 == 0:
            reknit.arrow.messages(pa.record_batch({"raw": [body] * 100}), "raw")


def resident() -> int:
    """The bytes of memory that the process has now."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


read_some(1_000)
gc.collect()
before = resident()
read_some(10_000)
gc.collect()
grown = resident() - before
# A kilobyte for each reply would be ten megabytes.
assert grown < 4_000_000, f"{grown} bytes more than before"
print(f"{grown} bytes more than before")
