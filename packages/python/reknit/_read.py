"""`read` and `aread`: a source to the content of its reply. `frames` and `tools`: single stages."""

from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeAlias

from reknit._error import Error
from reknit._reknit import (
    Call,
    Diagnostic,
    End,
    Frame,
    FrameDecoder,
    Message,
    Reply,
    Text,
    Thinking,
    Tools,
    _detect_profile,
)
from reknit._sources import AsyncSource, Source, async_pieces, encoded, pieces
from reknit._types import Dialect, Framing, Limits

Item: TypeAlias = Text | Thinking | Call | End

_SOURCE_HINT = "what came before is in the message; ask for the reply again if it is cut"


class _Queue:
    """The items that are ready, and the reply that they come from."""

    reply: Reply

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self._ready: deque[Item] = deque()
        self._is_over = False
        self._error: Error | None = None

    @property
    def message(self) -> Message:
        """The message, as far as it was read."""
        return self.reply.message

    @property
    def error(self) -> Error | None:
        """Why nothing more was read, if something went wrong."""
        return self._error or self.reply.error

    def _push(self, piece: Any) -> None:
        data = encoded(piece)
        if data is not None:
            self._ready.extend(self.reply.push_items(data))

    def _finish(self, failure: Exception | None = None) -> None:
        self._is_over = True
        items: list[Item] = self.reply.finish_items()
        if failure is not None:
            name = type(failure).__name__
            self._error = Error(f"the source failed: {name}: {failure}", "source-failed", _SOURCE_HINT)
            self._error.__cause__ = failure
            items = [
                End(item.message, self._error) if isinstance(item, End) and item.error is None else item
                for item in items
            ]
        self._ready.extend(items)


class Reading(_Queue, Iterator[Item]):
    """The content of a reply as it arrives; made by `read`."""

    def __init__(self, source: Source, reply: Reply) -> None:
        super().__init__(reply)
        self._pieces = pieces(source)

    def __next__(self) -> Item:
        while not self._ready:
            if self._is_over:
                raise StopIteration
            try:
                piece = next(self._pieces)
            except StopIteration:
                self._finish()
            except Exception as failure:
                # The connection broke, or the SDK says so. What came is not lost, and its end is an item.
                self._finish(failure)
            else:
                self._push(piece)
        return self._ready.popleft()


class AsyncReading(_Queue, AsyncIterator[Item]):
    """The content of a reply as it arrives; made by `aread`."""

    def __init__(self, source: AsyncSource, reply: Reply) -> None:
        super().__init__(reply)
        self._pieces = async_pieces(source)

    async def __anext__(self) -> Item:
        while not self._ready:
            if self._is_over:
                raise StopAsyncIteration
            try:
                piece = await anext(self._pieces)
            except StopAsyncIteration:
                self._finish()
            except Exception as failure:
                self._finish(failure)
            else:
                self._push(piece)
        return self._ready.popleft()


def read(
    source: Source,
    *,
    dialect: Dialect | None = None,
    profile: str | None = None,
    grammar: str | None = None,
    tools: list[dict[str, Any]] | str | None = None,
    limits: Limits | None = None,
) -> Reading:
    """Reads a reply, and returns its content as it arrives: text, thinking, calls that may be run, the end.

    `source` is a response of httpx or requests, an iterable of bytes, or an iterable of the events of the
    `anthropic` or `openai` SDK. If it fails, that is an item too: an `End` whose message is cut, with the error.
    The other arguments are those of `Reply`.

    >>> events = [
    ...     {"choices": [{"delta": {"content": "It is "}}]},
    ...     {"choices": [{"delta": {"content": "late."}}]},
    ... ]
    >>> reading = reknit.read(events)
    >>> for item in reading:
    ...     print(item)
    Text(text='It is ')
    Text(text='late.')
    End(message=Message(status='cut', text='It is late.'))
    """
    return Reading(source, Reply(dialect, profile=profile, grammar=grammar, tools=tools, limits=limits))


def aread(
    source: AsyncSource,
    *,
    dialect: Dialect | None = None,
    profile: str | None = None,
    grammar: str | None = None,
    tools: list[dict[str, Any]] | str | None = None,
    limits: Limits | None = None,
) -> AsyncReading:
    """The same as `read`, for `async for`: responses of httpx and aiohttp, and events of asynchronous SDKs.

    >>> import asyncio
    >>> async def main(source):
    ...     return [item async for item in reknit.aread(source)]
    >>> asyncio.run(main([{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}]))
    [Text(text='Hi'), End(message=Message(status='stopped', text='Hi'))]
    """
    return AsyncReading(source, Reply(dialect, profile=profile, grammar=grammar, tools=tools, limits=limits))


def frames(source: Source, *, framing: Framing | None = None, strict: bool = False) -> Iterator[Frame | Diagnostic]:
    """The frames of a stream: server-sent events, lines, elements of an array.

    A diagnostic comes before the frame that it is about. What cannot be read raises `reknit.Error` at the end.

    >>> for frame in reknit.frames([b"data: one\\n\\nda", b"ta: two\\n\\n"]):
    ...     print(frame)
    Frame(kind='data', event='', data='one')
    Frame(kind='data', event='', data='two')
    """
    decoder = FrameDecoder(framing, strict=strict)
    for piece in pieces(source):
        data = encoded(piece)
        if data is not None:
            yield from decoder.push(data)
    yield from decoder.finish()
    if decoder.error is not None:
        raise decoder.error


def tools(
    text: str,
    profile: str = "auto",
    *,
    grammar: str | None = None,
    tools: list[dict[str, Any]] | str | None = None,
    thinking: bool = False,
) -> Tools:
    """The calls and the thinking in a model's text.

    `profile` says how the model writes them; `auto` finds the one that fits best.

    >>> found = reknit.tools('<tool_call>{"name": "now", "arguments": {}}</tool_call>')
    >>> found.profile, found.blocks[0]["name"]
    ('hermes', 'now')
    """
    if grammar is not None:
        parser = Tools(grammar=grammar, tools=tools, thinking=thinking)
    else:
        name = _detect_profile(text, tools)[0] if profile == "auto" else profile
        parser = Tools(name, tools=tools, thinking=thinking)
    parser.push(text)
    parser.finish()
    return parser
