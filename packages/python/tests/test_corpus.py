"""Every case of the corpus, cut in many ways: the engine's JSON byte for byte, and the objects as values."""

import json
from collections.abc import Callable
from typing import Any

import corpus
import json_form
import pytest
import reknit
from corpus import compact, expected, input_of, same_for_every_cut

Record = Callable[[str, object], None]

DIALECTS = [folder.name for folder in corpus.cases("wire")]
REQUESTS = ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse", "cohere", "ollama"]


def quoted(text: str) -> str:
    """A JSON string as the corpus has it."""
    return json.dumps(text, ensure_ascii=False)


def test_frames(record_property: Record) -> None:
    def read(pieces: list[bytes]) -> str:
        decoder = reknit.FrameDecoder()
        found = [item for piece in pieces for item in decoder.push(piece)] + decoder.finish()
        lines = [frame_line(item) for item in found]
        if decoder.error is not None:
            lines.append(f"error {decoder.error.message}")
        return "".join(line + "\n" for line in [*lines, f"framing {decoder.framing or 'unknown'}"])

    cases = corpus.cases("frame")
    for case in cases:
        assert same_for_every_cut(input_of(case), read) == expected(case, "frames.txt"), case
    record_property("corpus/frame", len(cases))


def frame_line(item: reknit.Frame | reknit.Diagnostic) -> str:
    if isinstance(item, reknit.Diagnostic):
        return f"problem {item.kind} at {item.at_byte} in frame {item.frame}: {item.message}"
    line = f"frame {item.number} {item.kind} {item.start_byte}..{item.end_byte} {quoted(item.data)}"
    line += "".join(f" {name}={quoted(value)}" for name, value in [("event", item.event), ("id", item.id)] if value)
    return line + (f" retry={item.retry}" if item.retry is not None else "")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_wire(dialect: Any, record_property: Record) -> None:
    def read(pieces: list[bytes]) -> tuple[str, str, str]:
        reply = reknit.Reply(dialect, native=True)
        changes = "".join(reply.push_json(piece) for piece in pieces) + reply.finish_json()
        assert reply.error is None
        return changes, reply.to_json(), reply.native_json()

    def read_objects(pieces: list[bytes]) -> tuple[list[Any], list[Any], list[Any]]:
        reply = reknit.Reply(dialect, native=True, join=False)
        changes: list[Any] = [change for piece in pieces for change in reply.push(piece)] + reply.finish()
        texts = json_form.Bytes()
        changes = [json_form.of_change(change, texts) for change in changes]
        return changes, [message.to_dict() for message in reply.messages], reply.native

    cases = corpus.cases(f"wire/{dialect}")
    for case in cases:
        changes, messages, native = same_for_every_cut(input_of(case), read)
        assert changes == expected(case, "changes.ndjson"), case
        assert messages == compact(expected(case, "message.json")), case
        if (case / "native.json").exists():
            assert native == compact(expected(case, "native.json")), case
        objects = same_for_every_cut(input_of(case), read_objects)
        lines = [json.loads(line) for line in changes.splitlines()]
        assert objects == (lines, json.loads(messages), json.loads(native)), case
    record_property(f"corpus/wire/{dialect}", len(cases))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_items_and_joined_changes_have_the_same_text(dialect: Any) -> None:
    for case in corpus.cases(f"wire/{dialect}"):

        def read(pieces: list[bytes]) -> tuple[str, str, list[str], list[reknit.Call]]:
            items = list(reknit.read(pieces, dialect=dialect))
            text = "".join(item.text for item in items if isinstance(item, reknit.Text))
            thinking = "".join(item.text for item in items if isinstance(item, reknit.Thinking))
            ends = [item.message.to_json() for item in items if isinstance(item, reknit.End)]
            return text, thinking, ends, [item for item in items if isinstance(item, reknit.Call)]

        same_for_every_cut(input_of(case), read)
        reply = reknit.Reply(dialect)
        grown = ""
        for change in reply.push(input_of(case)) + reply.finish():
            grown += change["grew"]["text"] if "grew" in change else ""
        apart = reknit.Reply(dialect, join=False)
        apart_grown = ""
        for change in apart.push(input_of(case)) + apart.finish():
            apart_grown += change["grew"]["text"] if "grew" in change else ""
        assert grown == apart_grown


def test_json(record_property: Record) -> None:
    def read(pieces: list[str]) -> str:
        # The objects that are kept are looked at from the beginning, or only at the end.
        outcomes = [outcome_of(pieces, early) for early in (True, False)]
        assert outcomes[0] == outcomes[1]
        return outcomes[0]

    cases = corpus.cases("json")
    for case in cases:
        assert same_for_every_cut(input_of(case).decode(), read) == expected(case, "expected.txt"), case
    record_property("corpus/json", len(cases))


def outcome_of(pieces: list[str], early: bool) -> str:
    """What is known at the end of a text, and all that changed on the way, with growth joined."""
    partial = reknit.PartialJson()
    changes: list[list[str]] = []
    for piece in pieces:
        if early:
            assert same_value(partial)
        partial.push(piece)
        for change in partial.changes:
            line = f"{change.kind} {quoted(change.path)}"
            if change.kind == "grew" and changes and changes[-1][0] == line:
                changes[-1][1] += change.text or ""
            else:
                changes.append([line, change.text or ""])
    assert same_value(partial)
    value = partial.to_json()
    lines = ["no value" if value is None else f"value {value}"]
    if value is not None:
        lines += [f"{partial.state(pointer)} {quoted(pointer)}" for pointer in pointers(partial.value)]
    if partial.duplicate_keys is not None:
        count, first_byte = partial.duplicate_keys
        lines.append(f"duplicate keys {count}, the first at byte {first_byte}")
    lines += [f"{line} by {quoted(text)}" if line.startswith("grew") else line for line, text in changes]
    try:
        whole = partial.finish()
    except reknit.Error as error:
        lines.append(f"not whole: {error.message}")
    else:
        # A number at the end of the text is whole, but may still grow.
        assert value is None or whole == partial.value
        lines.append(f"whole {value if value is not None else partial.text.strip()}")
    return "".join(line + "\n" for line in lines)


def same_value(partial: reknit.PartialJson) -> bool:
    value = partial.to_json()
    return partial.value == (None if value is None else json.loads(value))


def pointers(value: Any) -> list[str]:
    """The pointers to a value and all that is inside it, in order."""
    found = [""]
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for step, child in children:
        escaped = str(step).replace("~", "~0").replace("/", "~1")
        found += [f"/{escaped}{rest}" for rest in pointers(child)]
    return found


def test_tags(record_property: Record) -> None:
    definitions = (corpus.CORPUS / "tags/tools.json").read_text(encoding="utf-8")
    count = 0
    for profile in corpus.cases("tags"):
        # The grammars of Cline and Roo have lists of tools themselves.
        tools = None if profile.name.startswith(("cline", "roo")) else definitions

        def read(pieces: list[bytes]) -> tuple[str, str]:
            parser = reknit.Tools(profile.name, tools=tools)
            for piece in pieces:
                parser.push(piece)
            parser.finish()
            as_json = parser.to_json()
            assert parser.to_dict() == json.loads(as_json)
            reply = reknit.Reply.of_text(profile.name, tools=tools)
            for piece in pieces:
                reply.push(piece)
            reply.finish()
            return as_json, reply.to_json()

        for case in corpus.cases(f"tags/{profile.name}"):
            blocks, _ = same_for_every_cut(input_of(case), read)
            assert blocks == compact(expected(case, "blocks.json")), case
            count += 1
    record_property("corpus/tags", count)


def test_chunks(record_property: Record) -> None:
    cases = corpus.cases("chunks")
    for case in cases:
        texts, as_json, as_objects = json_form.Bytes(), reknit.Chunks(), reknit.Chunks()
        lines = expected(case, "input.ndjson").splitlines()
        changes = [as_json.append_json(line) for line in lines]
        assert "".join(change + "\n" for change in changes) == expected(case, "changes.ndjson"), case
        assert as_json.to_json() == compact(expected(case, "chunks.json")), case
        objects = [json_form.of_chunk_change(as_objects.append(json.loads(line)), texts) for line in lines]
        assert objects == [json.loads(change) for change in changes], case
        assert as_objects.to_dict() == json.loads(as_json.to_json()), case
        assert as_objects.chunks == as_objects.to_dict()["chunks"], case
    record_property("corpus/chunks", len(cases))


def test_transcript(record_property: Record) -> None:
    cases = corpus.cases("transcript")
    for case in cases:
        lines = expected(case, "input.ndjson").splitlines()
        texts, as_json, as_objects = json_form.Bytes(), reknit.Transcript(), reknit.Transcript()
        steps = [as_json.append_json(line) for line in lines]
        assert "".join(f"{step}\n" for step in steps if step) == expected(case, "steps.ndjson"), case
        assert as_json.to_json() == compact(expected(case, "transcript.json")), case
        objects = [as_objects.append(json.loads(line)) for line in lines]
        in_bytes = [json_form.of_step(step, texts) for step in objects if step]
        assert in_bytes == [json.loads(step) for step in steps if step], case
        assert as_objects.to_dict() == json.loads(as_json.to_json()), case
        assert as_objects.messages == as_objects.to_dict()["messages"], case
        for cut in range(len(lines)):
            # Saved anywhere and read back, it continues as if it had not been.
            saved = reknit.Transcript()
            for line in lines[:cut]:
                saved.append_json(line)
            saved = reknit.Transcript.from_json(saved.to_json())
            for line in lines[cut:]:
                saved.append_json(line)
            assert saved.to_json() == as_json.to_json(), (case, cut)
    record_property("corpus/transcript", len(cases))


def test_history(record_property: Record) -> None:
    cases = corpus.cases("history")
    for case in cases:
        lines = expected(case, "input.ndjson").splitlines()
        requests: dict[str, reknit.Request] = {}
        for dialect in REQUESTS:
            request = reknit.history(lines, dialect)  # type: ignore[arg-type]
            assert request.to_json() == compact(expected(case, f"{dialect}.json")), (case, dialect)
            assert request.messages == json.loads(request.to_json()), (case, dialect)
            entries = [json.loads(line) for line in lines]
            assert reknit.history(entries, dialect).messages == request.messages  # type: ignore[arg-type]
            requests[dialect] = request
        assert repair_lines(requests) == expected(case, "repairs.txt"), case
    record_property("corpus/history", len(cases))


def repair_lines(requests: dict[str, reknit.Request]) -> str:
    """A line for each repair, with the dialects that it was made for."""
    distinct: list[reknit.Repair] = []
    for request in requests.values():
        for repair in request.repairs:
            if repair not in distinct:
                distinct.append(repair)
    lines: list[str] = []
    for repair in sorted(distinct, key=lambda repair: repair.seq):
        names = [name for name, request in requests.items() if repair in request.repairs]
        whose = "all" if len(names) == len(requests) else ", ".join(names)
        times = [made for made in requests[names[0]].repairs if made == repair]
        again = f", {len(times)} times" if len(times) > 1 else ""
        lines.append(f"{repair.seq} {repair.kind} in {whose}: {repair.message}{again}\n")
    return "".join(lines) or "none\n"
