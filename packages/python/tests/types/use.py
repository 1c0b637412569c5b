"""How a user writes it. Checked by mypy and pyright, and not run."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import httpx
import openai
import pyarrow as pa
import reknit
import reknit.arrow
from typing_extensions import assert_never, assert_type


def show(item: reknit.Item) -> str:
    match item:
        case reknit.Text(text) | reknit.Thinking(text):
            return assert_type(text, str)
        case reknit.Call(name=name, input=input):
            return f"{assert_type(name, str)} {input}"
        case reknit.End(message, error):
            assert_type(error, reknit.Error | None)
            return assert_type(message, reknit.Message).status
        case _:
            assert_never(item)


def sources(response: httpx.Response, client: anthropic.Anthropic, other: openai.OpenAI) -> Iterator[reknit.Item]:
    yield from reknit.read(b"data: {}")
    yield from reknit.read([b"data", bytearray(b": "), memoryview(b"{}")])
    yield from reknit.read(response)
    yield from reknit.read(response.iter_bytes(), dialect="anthropic", limits={"reply_bytes": 1_000_000})
    yield from reknit.read(client.messages.create(max_tokens=9, messages=[], model="any", stream=True))
    yield from reknit.read(other.chat.completions.create(messages=[], model="any", stream=True))
    yield from reknit.read(other.responses.create(input="Hi", model="any", stream=True))


async def asynchronous(response: httpx.Response, pieces: AsyncIterator[bytes]) -> None:
    async for item in reknit.aread(response):
        show(item)
    reading = reknit.aread(pieces, profile="hermes")
    assert_type([item async for item in reading], list[reknit.Item])
    assert_type(reading.message, reknit.Message)


def changes(reply: reknit.Reply) -> None:
    for change in reply.push(b""):
        if "grew" in change:
            assert_type(change["grew"]["text"], str)
            assert_type(change["grew"]["at"], int)
        if "noticed" in change and "at_byte" in change["noticed"]:
            assert_type(change["noticed"]["at_byte"], int)
    assert_type(reply.message.usage.input, int | None)
    assert_type(reply.message.calls, list[reknit.Call])


def others(batch: pa.RecordBatch, table: pa.Table) -> None:
    json = reknit.PartialJson()
    json.push("{")
    assert_type(json.changes, list[reknit.JsonChange])
    assert_type(reknit.apply_edits({"a": "text"}, "answer").files, dict[str, str | bytes | None])
    assert_type(reknit.apply_edits({"a": b"bytes"}, ["an", "swer"]).report, dict[str, Any])
    assert_type(reknit.history([], "anthropic").repairs, list[reknit.Repair])
    assert_type(reknit.tools("text").blocks, list[dict[str, Any]])
    for frame in reknit.frames([b""]):
        if isinstance(frame, reknit.Frame):
            assert_type(frame.start_byte, int)
    assert_type(reknit.arrow.messages(batch, "raw"), pa.RecordBatch)
    assert_type(reknit.arrow.messages(table, "raw", dialect="gemini"), pa.Table)
