"""The corpus as the SDKs see it: their events must say what the bytes say, unless the SDK has lost it."""

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import corpus
import httpx2
import openai
import pytest
import reknit
from serving import QUESTION

# What an SDK leaves out, or takes for the end: only the bytes have it.
LOST: dict[str, set[str]] = {
    "anthropic": {
        "byte-order-mark",
        "event-name-without-type",
        "no-event-lines",
        "no-final-blank-line",
    },
    "openai-chat": {
        "cut-inside-line-behind-finish-reason",
        "done-without-finish-reason",
        "error-event",
        "more-behind-finish-reason",
        "tool-call-custom-done-without-finish-reason",
        "two-completions-in-a-row",
        "usage-behind-done",
    },
    "openai-responses": set(),
}


class Body(httpx2.SyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        yield self._body


def events(dialect: str, body: bytes) -> Any:
    """The events that an SDK makes of a body."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Body(body))

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    if dialect == "anthropic":
        claude = anthropic.Anthropic(api_key="none", http_client=http)
        return claude.messages.create(model="any", max_tokens=99, messages=QUESTION, stream=True)
    client = openai.OpenAI(api_key="none", http_client=http)
    if dialect == "openai-chat":
        return client.chat.completions.create(model="any", messages=QUESTION, stream=True)
    return client.responses.create(model="any", input=QUESTION, stream=True)


def summary(message: reknit.Message) -> tuple[Any, ...]:
    thinking = [(block["text"], block.get("signature")) for block in message.blocks if block["type"] == "thinking"]
    calls = [(call.name, call.input) for call in message.calls]
    return message.text, thinking, calls, message.status, message.stop_reason, repr(message.usage)


@pytest.mark.parametrize("dialect", LOST)
def test_events_say_what_the_bytes_say(dialect: Any, record_property: Callable[[str, object], None]) -> None:
    different: set[str] = set()
    compared = failed = 0
    for case in corpus.cases(f"wire/{dialect}"):
        if not (case / "input.sse").exists():
            continue
        body = corpus.input_of(case)
        reply = reknit.Reply(dialect)
        reply.push(body)
        reply.finish()
        reading = reknit.read(events(dialect, body), dialect=dialect)
        *_, end = reading
        assert isinstance(end, reknit.End), case
        if reading.error is not None:
            # The SDK raised an exception, and nothing that came before it is lost.
            assert reply.message.text.startswith(reading.message.text), case
            assert reading.message.status != "stopped" or reply.message.status == "stopped", case
            failed += 1
        elif summary(reading.message) != summary(reply.message):
            different.add(case.name)
        compared += 1
    assert different == LOST[dialect]
    record_property(f"corpus/wire/{dialect} as events of the SDK", f"{compared}, in {failed} the SDK gave up")
