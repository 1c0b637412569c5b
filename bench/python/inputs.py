"""What is read: tool arguments, and streams that bring them. The same as in `bench/src/input.rs`."""

import json

KB = 1024
DELTA = 16


def words(size: int) -> str:
    sentence = "The quick brown fox jumps over the lazy dog, and nobody is surprised. "
    return (sentence * (size // len(sentence) + 1))[:size]


def source(size: int) -> str:
    """A source file: functions of seven lines and a blank one after each."""
    parts: list[str] = []
    length = number = 0
    while length < size:
        parts.append(
            f"/// Number {number}.\npub fn number_{number}(name: &str) -> String {{\n\tif name == \"{number}\" {{\n"
            '\t\treturn format!("{name}\\n");\n\t}\n\tname.to_owned()\n}\n\n'
        )
        length += len(parts[-1])
        number += 1
    return "".join(parts)


def rows(size: int) -> dict[str, object]:
    found: list[dict[str, object]] = []
    length = 0
    while length < size:
        number = len(found)
        found.append({"id": number, "name": f"item {number}", "price": 1.25, "tags": ["a", "b"], "new": True})
        length += len(compact(found[-1])) + 1
    return {"rows": found}


def argument(shape: str, size: int) -> str:
    match shape:
        case "one plain string":
            return compact({"path": "notes.txt", "content": words(size)})
        case "an escaped source file":
            return compact({"path": "src/lib.rs", "content": source(size * 10 // 11)})
        case _:
            return compact(rows(size))


SHAPES = ["one plain string", "an escaped source file", "rows of small objects"]


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def event(kind: str, **members: object) -> bytes:
    return f"event: {kind}\ndata: {compact({'type': kind, **members})}\n\n".encode()


def anthropic_stream(block: dict[str, object], deltas: list[dict[str, object]], reason: str) -> bytes:
    """A reply of one block, as Anthropic sends it."""
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 1},
    }  # fmt: skip
    events = [
        event("message_start", message=message),
        event("content_block_start", index=0, content_block=block),
        *(event("content_block_delta", index=0, delta=delta) for delta in deltas),
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 9}),
        event("message_stop"),
    ]
    return b"".join(events)


def text_stream(deltas: int) -> bytes:
    text = words(deltas * DELTA)
    pieces = pieces_of(text, DELTA)
    return anthropic_stream(
        {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces], "end_turn"
    )


def call_stream(shape: str, size: int) -> bytes:
    pieces = pieces_of(argument(shape, size), DELTA)
    block: dict[str, object] = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}
    return anthropic_stream(
        block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces], "tool_use"
    )


def pieces_of(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def reads_of(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]
