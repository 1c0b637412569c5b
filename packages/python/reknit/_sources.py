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

# The SDKs' own helpers (`.stream()`) add events that repeat what came, and fields with the message so far.
_HELPERS = ("anthropic.lib.streaming", "openai.lib.streaming")
_FROM_PROVIDER = ("message_stop", "content_block_stop", "response.")
_ADDED_FIELDS = {
    "message_stop": {"message"},
    "content_block_stop": {"content_block"},
    "response.output_text.delta": {"snapshot"},
    "response.output_text.done": {"parsed"},
    "response.function_call_arguments.delta": {"snapshot"},
}


def pieces(source: Source) -> Iterator[Piece]:
    """The pieces of a source."""
    # Callers without a type checker may give anything.
    given: Any = source
    if isinstance(given, (bytes, bytearray, memoryview)):
        return iter([cast(Bytes, given)])
    if hasattr(given, "iter_bytes"):
        given = given.iter_bytes()
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise _no_source(cast(object, given))
    return iter(cast(Iterable[Piece], given))


def async_pieces(source: AsyncSource) -> AsyncIterator[Piece]:
    """The pieces of an asynchronous source; those of any other are taken as they are."""
    given: Any = source
    if hasattr(given, "aiter_bytes"):
        given = given.aiter_bytes()
    elif hasattr(given, "iter_bytes"):
        given = given.iter_bytes()
    elif hasattr(given, "iter_any"):
        given = given.iter_any()
    elif hasattr(given, "content") and hasattr(given.content, "iter_any"):
        given = given.content.iter_any()
    if hasattr(given, "__aiter__"):
        return aiter(cast(AsyncIterable[Piece], given))
    return _as_async(pieces(given))


async def _as_async(pieces: Iterator[Piece]) -> AsyncIterator[Piece]:
    for piece in pieces:
        yield piece


def encoded(piece: Piece) -> Bytes | None:
    """The bytes of a piece; those of an event are what the provider sent for it. `None` if it says nothing new."""
    if isinstance(piece, (bytes, bytearray, memoryview)):
        return piece
    if isinstance(piece, dict):
        return _frame(_escaped(piece))
    kind = getattr(piece, "type", None)
    # OpenAI's helper wraps each event of the provider together with the message so far.
    if kind == "chunk" and hasattr(piece, "chunk"):
        return encoded(cast(Any, piece).chunk)
    if not hasattr(piece, "model_dump_json"):
        # Whatever it is, the engine's own error names its type.
        return cast(Bytes, piece)
    added = None
    if isinstance(kind, str) and type(piece).__module__.startswith(_HELPERS):
        if not kind.startswith(_FROM_PROVIDER):
            return None
        added = _ADDED_FIELDS.get(kind)
    # Only what came: a model has defaults for the rest. And what came need not be what the model expects.
    options: dict[str, Any] = {"exclude_unset": True, "exclude": added, "warnings": False}
    event: Any = piece
    try:
        return _frame(event.model_dump_json(**options))
    except ValueError:
        # A character that the provider cut in two is two halves, and pydantic cannot write a half.
        return _frame(_escaped(event.model_dump(**options)))


def _escaped(event: object) -> str:
    return json.dumps(event, separators=(",", ":"), default=str)


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
