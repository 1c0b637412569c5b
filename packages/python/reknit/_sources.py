"""What a reply can be read from: bytes, responses of HTTP clients, and the events of SDKs."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, cast

Bytes: TypeAlias = bytes | bytearray | memoryview


class Event(Protocol):
    """An event of an SDK: a pydantic model."""

    def model_dump_json(self) -> str: ...


class BytesResponse(Protocol):
    """A response whose bytes can be iterated, such as those of httpx and of the SDKs."""

    def iter_bytes(self) -> Iterable[bytes]: ...


class AsyncBytesResponse(Protocol):
    """The same for asynchronous clients: httpx."""

    def aiter_bytes(self) -> AsyncIterable[bytes]: ...


class AsyncSdkResponse(Protocol):
    """The same for the asynchronous clients of the SDKs."""

    def iter_bytes(self) -> AsyncIterable[bytes]: ...


class Content(Protocol):
    """The body of a response of aiohttp."""

    def iter_any(self) -> AsyncIterable[bytes]: ...


class AiohttpResponse(Protocol):
    """A response of aiohttp."""

    @property
    def content(self) -> Content: ...


Piece: TypeAlias = Bytes | Event | dict[str, Any]
Source: TypeAlias = Bytes | BytesResponse | Iterable[Piece]
AsyncSource: TypeAlias = (
    AsyncBytesResponse | AsyncSdkResponse | AiohttpResponse | Content | AsyncIterable[Piece] | Source
)

# What the SDKs' own helpers (`.stream()`) add to the provider's events: events that repeat what came, and fields
# with the message so far.
_REPEATED = frozenset({"text", "thinking", "citation", "signature", "input_json", "compaction"})
_ADDED_FIELDS = {
    "message_stop": {"message"},
    "content_block_stop": {"content_block"},
    "response.output_text.delta": {"snapshot"},
    "response.output_text.done": {"parsed"},
    "response.function_call_arguments.delta": {"snapshot"},
    "response.function_call_arguments.done": {"parsed_arguments"},
}


def pieces(source: Source) -> Iterator[Piece]:
    """The pieces of a source."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return iter([source])
    if hasattr(source, "iter_bytes"):
        source = cast(BytesResponse, source).iter_bytes()
    if isinstance(source, str) or not hasattr(source, "__iter__"):
        raise _no_source(source)
    return iter(cast(Iterable[Piece], source))


def async_pieces(source: AsyncSource) -> AsyncIterator[Piece]:
    """The pieces of an asynchronous source; those of any other are taken as they are."""
    if hasattr(source, "aiter_bytes"):
        source = cast(AsyncBytesResponse, source).aiter_bytes()
    elif hasattr(source, "iter_bytes"):
        source = cast(AsyncSdkResponse, source).iter_bytes()
    elif hasattr(source, "iter_any"):
        source = cast(Content, source).iter_any()
    elif hasattr(source, "content") and hasattr(cast(Any, source).content, "iter_any"):
        source = cast(AiohttpResponse, source).content.iter_any()
    if hasattr(source, "__aiter__"):
        return aiter(cast(AsyncIterable[Piece], source))
    return _as_async(pieces(cast(Source, source)))


async def _as_async(pieces: Iterator[Piece]) -> AsyncIterator[Piece]:
    for piece in pieces:
        yield piece


def encoded(piece: Piece) -> Bytes | None:
    """The bytes of a piece; those of an event are what the provider sent for it. `None` if it says nothing new."""
    if isinstance(piece, (bytes, bytearray, memoryview)):
        return piece
    if isinstance(piece, dict):
        return _frame(json.dumps(piece, ensure_ascii=False, separators=(",", ":")))
    kind = getattr(piece, "type", None)
    # OpenAI's helper wraps each event of the provider together with the message so far.
    if kind == "chunk" and hasattr(piece, "chunk"):
        return encoded(cast(Any, piece).chunk)
    if not hasattr(piece, "model_dump_json"):
        # Whatever it is, the engine's own error names its type.
        return cast(Bytes, piece)
    if kind in _REPEATED or (isinstance(kind, str) and _is_derived(piece)):
        return None
    excluded = _ADDED_FIELDS.get(kind) if isinstance(kind, str) else None
    # Only what came: a model has defaults for the rest. What came need not be what the SDK's model expects.
    return _frame(cast(Any, piece).model_dump_json(exclude_unset=True, exclude=excluded, warnings=False))


def _is_derived(event: object) -> bool:
    return type(event).__module__.startswith("openai.lib.streaming.chat")


def _frame(event: str) -> bytes:
    return b"data: " + event.encode() + b"\n\n"


def _no_source(source: object) -> TypeError:
    name = type(source).__name__
    if hasattr(source, "__aiter__") or hasattr(source, "aiter_bytes"):
        hint = "use `reknit.aread` for asynchronous sources"
    elif hasattr(source, "__enter__"):
        hint = "enter it first: `with … as stream`"
    else:
        hint = "give an iterable of bytes, such as `response.iter_bytes()`, or the events of an SDK"
    return TypeError(f"a reply cannot be read from `{name}`\nhint: {hint}")
