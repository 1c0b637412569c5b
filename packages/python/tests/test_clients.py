"""Real clients over a real connection, that breaks off or stalls."""

from collections.abc import Callable
from typing import Any

import pytest
import reknit
from clients import readers
from serving import APIS, EXPECTED, inside_the_call, serving

Record = Callable[[str, object], None]

# Longer than any of this takes, and shorter than anybody waits.
PATIENT = 60.0
IMPATIENT = 0.4

EVERY_WAY = [(dialect, name) for dialect in APIS for name in readers(dialect)]


def split(items: list[reknit.Item]) -> tuple[str, list[reknit.Call], reknit.End]:
    """The text, the calls, and the one end, which comes last."""
    *others, end = items
    assert isinstance(end, reknit.End), end
    assert not any(isinstance(item, reknit.End) for item in others)
    text = "".join(item.text for item in others if isinstance(item, reknit.Text))
    return text, [item for item in others if isinstance(item, reknit.Call)], end


@pytest.mark.parametrize(("dialect", "name"), EVERY_WAY)
def test_a_whole_reply(dialect: str, name: str) -> None:
    read = readers(dialect)[name]
    # As it was recorded, byte by byte, and with a pause inside the call.
    for options in [(), ("--recut", "bytes"), ("--stall", f"50@{inside_the_call(dialect)}")]:
        with serving(dialect, *options) as url:
            text, [call], end = split(read(url, PATIENT))
        assert text == EXPECTED["text"]
        assert (call.name, call.input) == (EXPECTED["call"], EXPECTED["input"])
        assert (end.message.status, end.error) == ("stopped", None), end
        assert end.message.stop_reason in ("tool", "end")
        assert end.message.extra.get("unknown") is None, end.message.extra


def check_cut(items: list[reknit.Item]) -> reknit.End:
    text, calls, end = split(items)
    assert text == EXPECTED["text"]
    assert calls == []
    assert end.message.status == "cut"
    assert end.error is not None and end.error.kind == "source-failed", end
    assert isinstance(end.error.__cause__, Exception)
    assert end.message.calls == []
    [call] = [block for block in end.message.blocks if block["type"] == "tool_call"]
    assert call["end"] == "cut" and call["name"] == EXPECTED["call"]
    return end


@pytest.mark.parametrize(("dialect", "name"), EVERY_WAY)
def test_a_connection_that_breaks(dialect: str, name: str) -> None:
    with serving(dialect, "--cut", str(inside_the_call(dialect))) as url:
        check_cut(readers(dialect)[name](url, PATIENT))


@pytest.mark.parametrize(("dialect", "name"), EVERY_WAY)
def test_a_connection_that_stalls(dialect: str, name: str) -> None:
    stall = f"600000@{inside_the_call(dialect)}"
    with serving(dialect, "--stall", stall) as url:
        end = check_cut(readers(dialect)[name](url, IMPATIENT))
    cause: Any = end.error and end.error.__cause__
    assert "time" in f"{type(cause).__name__} {cause}".lower(), cause


def test_every_way_is_counted(record_property: Record) -> None:
    assert len(EVERY_WAY) == 42
    record_property("ways to read a reply from a server", len(EVERY_WAY))
