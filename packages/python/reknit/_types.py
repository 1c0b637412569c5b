"""The forms of what the engine returns as dicts. `docs/json.md` of the repository describes them all."""

from typing import Any, Literal, TypeAlias, TypedDict

Dialect: TypeAlias = Literal[
    "anthropic",
    "openai-chat",
    "openai-responses",
    "gemini",
    "gemini-interactions",
    "bedrock-converse",
    "cohere",
    "ollama",
    "agent-c",
]
Status: TypeAlias = Literal["waiting", "streaming", "stopped", "failed", "cut"]
StopReason: TypeAlias = Literal["end", "length", "tool", "stop_sequence", "refusal", "filter", "pause", "other"]
CallEnd: TypeAlias = Literal["closed", "cut", "malformed"]
Framing: TypeAlias = Literal["sse", "lines", "json-array", "aws-event-stream", "whole"]

Block: TypeAlias = int | tuple[int, int]
"""The address of a block: a number, or two for a block that was found in a text."""


class Limits(TypedDict, total=False):
    """How much of a stream is accepted. What is not given has its default."""

    frame_bytes: int
    reply_bytes: int
    values: int
    json_depth: int
    blocks: int
    diagnostics: int
    text_bytes: int
    param_bytes: int


class DiagnosticDict(TypedDict, total=False):
    """Something unexpected, in a change."""

    kind: str
    message: str
    hint: str
    at_byte: int
    frame: int
    block: Block
    offset_byte: int
    event: int


class Started(TypedDict, total=False):
    id: str
    model: str
    role: str


class Opened(TypedDict, total=False):
    block: Block
    choice: int
    type: Literal["text", "thinking", "tool_call", "tool_result", "other"]
    refusal: bool
    redacted: str
    id: str
    invented: bool
    name: str
    runner: Literal["provider"]
    notation: Literal["plain"]
    origin: dict[str, Any]
    kind: str
    call_id: str


class Named(TypedDict, total=False):
    block: Block
    id: str
    invented: bool
    name: str


class Grew(TypedDict):
    """More text, thinking or arguments; `at` is the number of code points before."""

    block: Block
    at: int
    text: str


class Signed(TypedDict):
    """More of a signature."""

    block: Block
    at: int
    signature: str


class Closed(TypedDict, total=False):
    block: Block
    end: CallEnd
    notice: DiagnosticDict
    raw: str


class Kept(TypedDict):
    owner: Any
    key: str
    keep: dict[str, Any]


class Switched(TypedDict):
    model: str


class UsageDict(TypedDict, total=False):
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int


class Stopped(TypedDict, total=False):
    choice: int
    reason: StopReason
    detail: str


class Ended(TypedDict, total=False):
    notice: DiagnosticDict


class Nothing(TypedDict):
    pass


class Failed(TypedDict, total=False):
    type: str
    message: str
    raw: Any


class Change(TypedDict, total=False):
    """What a piece changed in a message: exactly one of these."""

    started: Started
    opened: Opened
    named: Named
    grew: Grew
    signed: Signed
    closed: Closed
    kept: Kept
    switched: Switched
    usage: UsageDict
    stopped: Stopped
    ended: Ended
    cut: Nothing
    failed: Failed
    noticed: DiagnosticDict
    ping: Nothing
