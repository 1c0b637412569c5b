"""`reknit replay --serve`: a provider on this machine that sends a recording, broken where asked."""

import contextlib
import json
import os
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

REKNIT = os.environ["REKNIT"]
FOLDER = pathlib.Path(os.environ["REKNIT_ROOT"]) / "tests/sdk"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
QUESTION: list[Any] = [{"role": "user", "content": "How is the weather?"}]

# The paths at which a provider answers, and what is asked there.
APIS: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": ("/v1/messages", {"max_tokens": 99, "messages": QUESTION}),
    "openai-chat": ("/v1/chat/completions", {"messages": QUESTION}),
    "openai-responses": ("/v1/responses", {"input": QUESTION}),
}


def recording(dialect: str) -> pathlib.Path:
    return FOLDER / "recordings" / f"{dialect}.rec"


def inside_the_call(dialect: str) -> int:
    """A byte of the recording that is inside the arguments of its call."""
    played = subprocess.run(
        [REKNIT, "replay", recording(dialect), "--speed", "max"], capture_output=True, check=True
    )
    return played.stdout.index(b"days")


@contextlib.contextmanager
def serving(dialect: str, *options: str) -> Iterator[str]:
    """A server of a recording, as its address."""
    command = [REKNIT, "replay", str(recording(dialect)), "--serve", "0", "--speed", "max", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline().strip()
            assert line.startswith("listening on "), line
            yield line.removeprefix("listening on ")
        finally:
            server.kill()
