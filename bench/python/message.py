"""Bytes to the message, next to the accumulation of Anthropic's SDK."""

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import inputs
import reknit
from measure import Effort, Row, Runner, Target, measure, table

SDK = "anthropic"
READ = 1_400


def ours(reads: list[bytes]) -> tuple[str, Any]:
    """The text and the input, with each item looked at."""
    text: list[str] = []
    call: Any = None
    for item in reknit.read(reads):
        match item:
            case reknit.Text(piece):
                text.append(piece)
            case reknit.Call(input=value):
                call = value
            case _:
                pass
    return "".join(text), call


class Reads(httpx2.SyncByteStream):
    def __init__(self, reads: list[bytes]) -> None:
        self._reads = reads

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._reads)


class Provider(httpx2.BaseTransport):
    """Answers every request with the same reads, without a network."""

    def __init__(self, reads: list[bytes]) -> None:
        self._reads = reads

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Reads(self._reads))


def theirs(client: anthropic.Anthropic) -> tuple[str, Any]:
    """The same with the SDK's own helper, with each event looked at."""
    with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]) as stream:
        for _ in stream:
            pass
        [block] = stream.get_final_message().content
    return (block.text, None) if block.type == "text" else ("", getattr(block, "input"))


def row(name: str, stream: bytes) -> Row:
    reads = inputs.reads_of(stream, READ)
    client = anthropic.Anthropic(api_key="none", http_client=httpx2.Client(transport=Provider(reads)))
    return Row(name, [Runner("reknit", lambda: ours(reads)), Runner(SDK, lambda: theirs(client))])


def run(effort: Effort, quick: bool) -> tuple[str, list[Target]]:
    deltas, size = (2_000, 5) if quick else (20_000, 50)
    streams = {f"{deltas:,} text deltas": inputs.text_stream(deltas)}
    for shape in inputs.SHAPES[:2]:
        streams[f"{shape}, {size} KB"] = inputs.call_stream(shape, size * inputs.KB)
    rows = [measure(row(name, stream), effort) for name, stream in streams.items()]
    least = min(row.ratio(SDK) or 0 for row in rows)
    targets = [Target("bytes to message: times as fast as the anthropic SDK", 15, None, least)]
    return table("bytes to message, in reads of 1,400 bytes, each item looked at", rows), targets
