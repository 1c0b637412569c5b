"""Streaming replies of language models, cut anywhere, as complete messages.

`read` turns the bytes of a response, or the events of an SDK, into text, thinking, calls and an end:

>>> response = [b'data: {"choices":[{"delta":{"cont', b'ent":"Hi"},"finish_reason":"stop"}]}\\n\\n']
>>> for item in reknit.read(response):
...     match item:
...         case reknit.Text(text):
...             print(text)
...         case reknit.Call(name=name, input=input):
...             print("run", name, input)
...         case reknit.End(message):
...             print(message.status, message.stop_reason)
Hi
stopped end

An early end is an item too: its message has the status `cut`, and none of its calls is offered to be run.
"""

from reknit._error import Error, InUseError
from reknit._read import AsyncReading, Item, Reading, aread, frames, read, tools
from reknit._reknit import (
    AppliedEdits,
    Call,
    Chunks,
    Diagnostic,
    End,
    Frame,
    FrameDecoder,
    JsonChange,
    Message,
    PartialJson,
    Repair,
    Reply,
    Request,
    Text,
    Thinking,
    Tools,
    Transcript,
    Usage,
    apply_edits,
    history,
    profiles,
)

__all__ = [
    "AppliedEdits",
    "AsyncReading",
    "Call",
    "Chunks",
    "Diagnostic",
    "End",
    "Error",
    "Frame",
    "FrameDecoder",
    "InUseError",
    "Item",
    "JsonChange",
    "Message",
    "PartialJson",
    "Reading",
    "Repair",
    "Reply",
    "Request",
    "Text",
    "Thinking",
    "Tools",
    "Transcript",
    "Usage",
    "apply_edits",
    "aread",
    "frames",
    "history",
    "profiles",
    "read",
    "tools",
]
