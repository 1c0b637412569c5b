"""What happens when things go wrong: bad arguments, threads, panics, sources that fail; and memory."""

import asyncio
import json
import pathlib
import pickle
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import reknit
from reknit import _reknit

HELLO = b'data: {"choices":[{"delta":{"content":"H\xc3\xa9llo"}}]}\n\n'


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: reknit.Reply().push(5), TypeError, "a piece must be bytes, not `int`\nhint: give bytes"),
        (lambda: reknit.Reply().push("text"), TypeError, "a piece must be bytes, not `str`\nhint: read bytes"),
        (lambda: reknit.Reply().push(None), TypeError, "a piece must be bytes, not `NoneType`"),
        (lambda: reknit.Reply("antropic"), ValueError, "did you mean `anthropic`?"),
        (lambda: reknit.Reply(profile="hermse"), ValueError, "there is no profile `hermse`\nhint: did you mean `hermes`"),
        (lambda: reknit.Reply(profile="auto"), ValueError, "`auto` needs the whole text"),
        (lambda: reknit.Reply(tools=[]), ValueError, "`profile` or `grammar`"),
        (lambda: reknit.Reply(grammar="x", profile="hermes"), ValueError, "either `profile` or `grammar`"),
        (lambda: reknit.Reply(grammar="x = "), ValueError, "this is not a grammar"),
        (lambda: reknit.Reply(profile="hermes", tools=[5]), TypeError, "`tools` is not a list of tools"),
        (lambda: reknit.Reply(limits={"bytes": 5}), ValueError, "there is no limit `bytes`"),
        (lambda: reknit.Reply(limits={"blocks": -1}), TypeError, "must be an int that is not negative"),
        (lambda: reknit.Reply(limits={"blocks": "many"}), TypeError, "not `str`"),
        (lambda: reknit.Reply(limits={"json_depth": 513}), ValueError, "at most 512 levels deep, not 513"),
        (lambda: reknit.PartialJson(depth=10**9), ValueError, "at most 512 levels deep"),
        (lambda: reknit.PartialJson(depth=-1), OverflowError, "can't convert negative int"),
        (lambda: reknit.Chunks().append(endless_list()), RecursionError, "more than 640 levels"),
        (lambda: reknit.Reply().native, ValueError, "after `finish`"),
        (lambda: reknit.read("text"), TypeError, "cannot be read from `str`"),
        (lambda: reknit.read(5), TypeError, "cannot be read from `int`"),
        (lambda: list(reknit.read([b"", 5])), TypeError, "a piece must be bytes, not `int`"),
        (lambda: list(reknit.read(["a"])), TypeError, "a piece must be bytes, not `str`"),
        (lambda: reknit.read(endless()), TypeError, "use `reknit.aread`"),
        (lambda: reknit.PartialJson().push(b"{"), TypeError, "must be a str, not `bytes`"),
        (lambda: reknit.FrameDecoder("ssse"), ValueError, "there is no framing `ssse`\nhint: did you mean `sse`"),
        (lambda: reknit.Tools(), ValueError, "say how the model writes its calls"),
        (lambda: reknit.apply_edits({"a": 5}, ""), TypeError, "must be bytes, not `int`"),
        (lambda: reknit.apply_edits([], ""), TypeError, "`files` must be a dict, not `list`"),
        (lambda: reknit.apply_edits({}, b"bytes"), TypeError, "an answer must be a str, not `bytes`"),
        (lambda: reknit.apply_edits({}, "", format="diff"), ValueError, "there is no format `diff`"),
        (lambda: reknit.apply_edits({}, "", loosest="exakt"), ValueError, "did you mean `exact`"),
        (lambda: reknit.Chunks().append({"type": 5}), ValueError, "hint: "),
        (lambda: reknit.Chunks().append("{"), ValueError, "this is not JSON"),
        (lambda: reknit.Chunks().append({"type": object()}), TypeError, "a value must be None"),
        (lambda: reknit.Chunks().append({"type": float("nan")}), ValueError, "JSON has no number"),
        (lambda: reknit.Transcript().append({}), ValueError, "hint: "),
        (lambda: reknit.Transcript.from_json("{}"), ValueError, "this is not a transcript"),
        (lambda: reknit.history([{}], "anthropic"), ValueError, "hint: "),
        (lambda: reknit.history([], "anthropics"), ValueError, "did you mean `anthropic`?"),
        (lambda: reknit.history(5, "anthropic"), TypeError, "must be the entries of a log, not `int`"),
        (lambda: reknit.history([], "agent-c"), reknit.Error, "requests in `agent-c` are not supported"),
    ],
)
def test_bad_arguments_have_helpful_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


def endless_list() -> Any:
    endless: list[Any] = []
    endless.append(endless)
    return endless


async def endless() -> AsyncIterator[bytes]:
    yield b""


def test_a_finished_reply_says_so() -> None:
    reply = reknit.Reply()
    reply.push(HELLO)
    reply.finish()
    for use in (lambda: reply.push(b""), reply.finish, lambda: reply.push_items(b""), reply.finish_json):
        with pytest.raises(ValueError, match="this reply is finished\nhint: make a new reknit.Reply"):
            use()
    # What it read is still there.
    assert reply.message.text == "Héllo"
    tools = reknit.Tools("hermes")
    tools.finish()
    with pytest.raises(ValueError, match="this text is finished"):
        tools.push("more")


def test_every_kind_of_bytes_is_taken() -> None:
    for piece in (HELLO, bytearray(HELLO), memoryview(HELLO), memoryview(HELLO + b"xx")[:-2]):
        assert reknit.Reply().push_items(piece) == [reknit.Text("Héllo")]
        assert list(reknit.read(piece))[0] == reknit.Text("Héllo")


def test_places_in_text_are_code_points() -> None:
    reply = reknit.Reply(join=False)
    body = json.dumps({"choices": [{"delta": {"content": "☂é"}}]}, ensure_ascii=False).encode()
    frame = b"data: " + body + b"\n\n"
    grown = [change["grew"] for change in reply.push(frame * 3) if "grew" in change]
    assert [growth["at"] for growth in grown] == [0, 2, 4]
    text = reply.message.text
    assert [text[growth["at"] :][:2] for growth in grown] == ["☂é"] * 3


def test_growth_of_one_push_is_joined() -> None:
    [_, opened, grew] = reknit.Reply().push(HELLO * 3)
    assert "opened" in opened and "grew" in grew
    assert grew["grew"] == {"block": 0, "at": 0, "text": "Héllo" * 3}
    assert reknit.Reply().push_items(HELLO * 3) == [reknit.Text("Héllo" * 3)]
    assert reknit.Reply(join=False).push_items(HELLO * 3) == [reknit.Text("Héllo")] * 3


def test_a_source_that_fails_loses_nothing() -> None:
    failure = ConnectionResetError("peer went away")

    def source() -> Iterator[bytes]:
        yield HELLO
        raise failure

    reading = reknit.read(source())
    text, end = reading
    assert text == reknit.Text("Héllo")
    assert isinstance(end, reknit.End) and end.message.status == "cut"
    assert end.error is not None and end.error.kind == "source-failed"
    assert end.error.__cause__ is failure and reading.error is end.error
    assert "ConnectionResetError: peer went away" in str(end.error)


def test_an_interrupt_is_not_taken_for_a_failure() -> None:
    def source() -> Iterator[bytes]:
        yield HELLO
        raise KeyboardInterrupt

    reading = reknit.read(source())
    assert next(reading) == reknit.Text("Héllo")
    with pytest.raises(KeyboardInterrupt):
        next(reading)
    assert reading.message.text == "Héllo"


def test_a_cancelled_task_is_not_taken_for_a_failure() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield HELLO
        await asyncio.Event().wait()

    async def main() -> None:
        reading = reknit.aread(source())
        assert await anext(reading) == reknit.Text("Héllo")
        task = asyncio.ensure_future(anext(reading))
        await asyncio.wait([task], timeout=0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_what_is_not_a_stream_ends_with_its_error() -> None:
    [end] = reknit.read([b"<html><body>502 Bad Gateway</body></html>"])
    assert isinstance(end, reknit.End) and end.error is not None
    assert (end.message.status, end.error.kind) == ("cut", "unknown-dialect")
    assert "hint: the input must be the body of a streamed response" in str(end.error)


def test_errors_can_be_pickled_and_matched() -> None:
    partial = reknit.PartialJson()
    partial.push('{"a": tru}')
    error = partial.error
    assert error is not None and error.kind == "syntax"
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.kind, copy.hint, str(copy)) == (error.kind, error.hint, str(error))
    assert issubclass(reknit.InUseError, reknit.Error)


LONG = 60_000_000


@pytest.mark.parametrize(
    ("make", "piece", "name"),
    [
        (reknit.Reply, b"data: " + b"x" * LONG, "reply"),
        (reknit.FrameDecoder, b"data: " + b"x" * LONG, "FrameDecoder"),
        (reknit.PartialJson, '"' + "x" * LONG, "PartialJson"),
        (lambda: reknit.Tools("hermes"), "x" * LONG, "Tools"),
    ],
)
def test_two_threads_cannot_use_one_object_at_once(make: Callable[[], Any], piece: Any, name: str) -> None:
    # While a long piece is read, the global lock is released; so the other thread runs, and is refused.
    refused = threading.Event()

    def meddle(shared: Any, done: threading.Event) -> None:
        while not done.is_set() and not refused.is_set():
            try:
                shared.push(piece[:0])
            except reknit.InUseError as error:
                assert error.kind == "in-use" and f"another thread is using this {name}" in str(error)
                refused.set()

    for _ in range(50):
        shared, done = make(), threading.Event()
        thread = threading.Thread(target=meddle, args=(shared, done))
        thread.start()
        try:
            shared.push(piece)
        except reknit.InUseError:
            refused.set()
        done.set()
        thread.join()
        if refused.is_set():
            return
    raise AssertionError("no thread was ever refused")


def test_a_panic_is_an_exception_of_the_package() -> None:
    with pytest.raises(reknit.Error) as raised:
        _reknit._panic_for_tests("on purpose")  # pyright: ignore[reportPrivateUsage]
    assert raised.value.kind == "panic"
    assert "the engine panicked: on purpose" in str(raised.value)
    assert isinstance(raised.value, Exception)


def test_a_value_is_patched_and_never_made_again() -> None:
    partial = reknit.PartialJson()
    partial.push('{"a": ["x')
    value = partial.value
    inner = value["a"]
    partial.push('y", {"b": 1')
    partial.push("2}]}")
    assert partial.value is value and value["a"] is inner
    assert value == {"a": ["xy", {"b": 12}]} == partial.finish()


def test_keys_that_are_repeated_within_a_piece() -> None:
    values = ["1", '"x"', "[]", "{}", '["x", 2]', '{"y": {"z": [true]}}', '""', "null"]
    for first in values:
        for second in values:
            partial = reknit.PartialJson()
            partial.push("{")
            value = partial.value
            text = f'{{"a": {first}, "b": 0, "a": {second}}}'
            partial.push(text[1:])
            assert partial.value is value
            assert (value, list(value)) == (json.loads(text), ["a", "b"]), text


def test_a_value_that_somebody_changes_or_keeps() -> None:
    partial = reknit.PartialJson()
    partial.push('{"a": "x')
    kept = partial.value["a"]
    partial.push("y")
    assert (kept, partial.value) == ("x", {"a": "xy"})
    for spoil in (dict.clear, lambda value: value.update(a=5), lambda value: value.update(a="z")):
        spoil(partial.value)
        partial.push("z")
        partial.push("!")
    assert partial.value["a"].endswith("z!")
    partial.push('", "list": [1, "b')
    partial.value["list"].clear()
    partial.push('c", {"d": tru')
    assert partial.value["list"] == [1, "bc", {}]
    partial.push("e}]}")
    assert partial.finish()["list"] == [1, "bc", {"d": True}] == partial.value["list"]


def test_numbers_are_what_json_makes_of_them() -> None:
    text = '{"a": 12345678901234567890123, "b": 1.10, "c": -0, "d": 1e3, "e": 0.1}'
    partial = reknit.PartialJson()
    partial.push(text)
    assert partial.value == json.loads(text)
    assert [type(value) for value in partial.value.values()] == [type(value) for value in json.loads(text).values()]
    assert partial.to_json() == text.replace(" ", "")


def test_the_deepest_value_can_be_read_in_a_thread() -> None:
    depth = 510
    nested = '{"a":' * depth + "1" + "}" * depth

    def read() -> None:
        partial = reknit.PartialJson(depth=512)
        for piece in (nested[:100], nested[100:1000], nested[1000:]):
            partial.push(piece)
            assert isinstance(partial.value, dict)
        assert partial.value == partial.finish()
        function = {"name": "deep", "arguments": nested}
        event = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": function}]}}]}
        stop = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
        reading = reknit.read([event, stop], limits={"json_depth": 512})
        [call] = [item for item in reading if isinstance(item, reknit.Call)]
        assert call.input == partial.value
        assert reading.message.to_dict()["blocks"][0]["input"] == call.input
        done.append(True)

    done: list[bool] = []
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert done == [True]


def test_memory_returns_to_its_level() -> None:
    script = pathlib.Path(__file__).with_name("memory.py")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
