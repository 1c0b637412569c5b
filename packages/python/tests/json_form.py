"""Changes as the package returns them, back in the engine's own JSON form: with places in bytes."""

from typing import Any


class Bytes:
    """Follows growing texts, and knows the byte of each code point in them."""

    def __init__(self) -> None:
        self._texts: dict[Any, str] = {}

    def at(self, key: Any, at: int, text: str) -> int:
        """The byte at which `text` begins, which continues or replaces the text of `key` from a code point on."""
        before = self._texts.get(key, "")[:at]
        assert len(before) == at, (key, at, before)
        self._texts[key] = before + text
        return len(before.encode())

    def start(self, key: Any, text: str) -> None:
        self._texts[key] = text

    def clear(self) -> None:
        self._texts.clear()


def of_change(change: dict[str, Any], texts: Bytes) -> dict[str, Any]:
    """A change of a message."""
    [(name, body)] = change.items()
    body = _lists(body)
    if name == "started":
        texts.clear()
    for grown, field in [("grew", "text"), ("signed", "signature")]:
        if name == grown:
            body["at"] = texts.at((str(body["block"]), name), body["at"], body[field])
    if name == "noticed":
        body = of_diagnostic(body)
    if "notice" in body:
        body["notice"] = of_diagnostic(body["notice"])
    return {name: body}


def of_chunk_change(change: dict[str, Any], texts: Bytes, message: int = 0) -> dict[str, Any]:
    """A change of chunks."""
    [(name, body)] = change.items()
    body = dict(body)
    place = (message, body.get("chunk"), body.get("call"))
    match name:
        case "opened":
            value = body["value"]
            texts.start((*place, "text"), value.get("text", ""))
            for number, call in enumerate(value.get("calls", [])):
                _start_call(texts, (message, body["chunk"], number), call)
        case "called":
            _start_call(texts, place, body["value"])
        case "grew":
            body["at"] = texts.at((*place, "text"), body["at"], body["text"])
        case "input_grew":
            body["at"] = texts.at((*place, "input"), body["at"], body["text"])
        case "wrote":
            body["at"] = texts.at((*place, body["stream"]), body["at"], body["text"])
        case "previewed":
            body["at"] = texts.at((*place, "preview"), body["at"], body["text"])
        case "dropped":
            body = of_diagnostic(body)
        case _:
            pass
    return {name: body}


def of_step(step: dict[str, Any], texts: Bytes) -> dict[str, Any]:
    """A step of a transcript."""
    [(name, body)] = step["effect"].items()
    if name == "chunk":
        body = {**body, "change": of_chunk_change(body["change"], texts, body["message"])}
    if name == "dropped":
        body = of_diagnostic(body)
    return {**step, "effect": {name: body}}


def of_diagnostic(diagnostic: dict[str, Any]) -> dict[str, Any]:
    names = {"at_byte": "at", "offset_byte": "offset"}
    return {names.get(key, key): value for key, value in _lists(diagnostic).items()}


def _start_call(texts: Bytes, place: tuple[Any, ...], call: dict[str, Any]) -> None:
    texts.start((*place, "input"), call.get("inputText", ""))


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_lists(element) for element in value]
    return value
