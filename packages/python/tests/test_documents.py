"""The examples in the docstrings and in the README, and what is in the wheel."""

import doctest
import importlib.metadata
import inspect
import json
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx
import pyarrow as pa
import pytest
import reknit
import reknit.arrow
from serving import APIS, EXPECTED, QUESTION, serving

ROOT = pathlib.Path(os.environ["REKNIT_ROOT"])
PACKAGE = ROOT / "packages/python"


def docstrings() -> Iterator[tuple[str, str]]:
    objects: list[tuple[str, Any]] = [("reknit", reknit), ("reknit.arrow.messages", reknit.arrow.messages)]
    for name in reknit.__all__:
        value = getattr(reknit, name)
        objects.append((name, value))
        if inspect.isclass(value):
            objects.extend((f"{name}.{member}", getattr(value, member)) for member in vars(value))
    for name, value in objects:
        if isinstance(value.__doc__, str) and ">>>" in value.__doc__:
            yield name, inspect.cleandoc(value.__doc__)


def test_the_examples_in_docstrings_run(record_property: Callable[[str, object], None]) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for name, text in docstrings():
        runner.run(parser.get_doctest(text, {"reknit": reknit}, name, None, 0))
    assert runner.failures == 0
    assert runner.tries > 60, runner.tries
    record_property("examples in docstrings", runner.tries)


def test_every_public_name_is_documented() -> None:
    for name in reknit.__all__:
        if name != "Item":
            assert getattr(reknit, name).__doc__, name


def test_the_version_is_that_of_the_crate() -> None:
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^\[workspace\.package\]\nversion = "(.+)"$', manifest, re.MULTILINE)
    assert version is not None
    assert importlib.metadata.version("reknit") == version[1]


def test_the_licences_are_in_the_wheel_and_those_of_the_repository() -> None:
    files = importlib.metadata.files("reknit") or []
    for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
        packed = [file for file in files if file.name == name]
        assert len(packed) == 1, name
        original = (ROOT / name).read_text(encoding="utf-8")
        assert packed[0].read_text(encoding="utf-8") == original
        assert (PACKAGE / name).read_text(encoding="utf-8") == original


def test_the_wheel_has_the_types() -> None:
    names = {file.name for file in importlib.metadata.files("reknit") or []}
    assert {"py.typed", "_reknit.pyi"} <= names


class Recorder:
    """Something that a program shows things on: remembers what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, *arguments: Any) -> None:
        self.calls.append(arguments)

    append = show = __call__


def python_blocks() -> list[str]:
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)


def test_the_programs_in_the_readme_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, sdk, changes, partial, stages, columns = python_blocks()
    path, question = APIS["anthropic"]
    body = {"model": "any", "stream": True, **question}
    with serving("anthropic") as server:
        run = Recorder()
        exec(first, {"url": server + path, "headers": {}, "body": body, "run": run})
        assert run.calls == [(EXPECTED["call"], EXPECTED["input"])]
        assert capsys.readouterr().out.startswith(EXPECTED["text"] + "stopped Usage(")

        monkeypatch.setenv("ANTHROPIC_BASE_URL", server)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        names: dict[str, Any] = {"anthropic": anthropic, "reknit": reknit, "model": "any", "messages": QUESTION}
        exec(sdk, names)
        assert names["item"].message.status == "stopped"

        page = Recorder()
        with httpx.stream("POST", server + path, json=body) as response:
            exec(changes, {"reknit": reknit, "response": response, "page": page})
        shown = "".join(text for block, text in page.calls if block == 0)
        assert shown == EXPECTED["text"]
        printed = json.loads(capsys.readouterr().out)
        assert printed["status"] == "stopped"

    editor = Recorder()
    exec(partial, {"reknit": reknit, "deltas": ['{"content": "a', "bc", '"}'], "editor": editor})
    assert editor.calls == [("a",), ("abc",), ("abc",)]

    entry = {"v": 1, "seq": 1, "at": 0, "body": {"type": "user-message", "content": []}}
    given = {"reknit": reknit, "response": [b"data: {}\n\n"], "text": "text", "old": "a\n", "answer": "", "entry": entry}
    exec(stages, {**given, "entries": [entry], "event": {"type": "text-delta", "delta": "Hi"}})

    names = {"reknit": reknit, "batch": pa.record_batch({"raw": [b"<html>"]})}
    exec(columns, names)
    listed = columns.split("# ")[1].strip().split(", ")
    assert names["table"].schema.names == listed
