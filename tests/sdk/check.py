"""The Python SDKs, talking to `reknit replay --serve`. Run by `cargo xtask sdk`."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Callable

import anthropic
import httpx2
import openai

REKNIT = os.environ["REKNIT"]
FOLDER = pathlib.Path(os.environ["REKNIT_SDK"])
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
QUESTION = [{"role": "user", "content": "How is the weather?"}]


@dataclass
class Raises:
    """An outcome that is an error, and the words in it."""

    error: type[Exception]
    words: str


@dataclass
class Api:
    """One way to ask for a reply, and what must come of it."""

    name: str
    recording: str
    ask: Callable[[str], dict[str, Any]]
    end: str
    broken: Raises
    short: Raises | dict[str, Any]
    misfit: type[Exception]


def ask_anthropic(url: str) -> dict[str, Any]:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    with client.messages.stream(model="any", max_tokens=99, messages=QUESTION) as stream:
        message = stream.get_final_message()
    text, call = message.content
    return {"text": text.text, "call": call.name, "input": call.input, "end": message.stop_reason}


def ask_chat(url: str) -> dict[str, Any]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    with client.chat.completions.stream(model="any", messages=QUESTION) as stream:
        choice = stream.get_final_completion().choices[0]
    function = choice.message.tool_calls[0].function
    arguments = json.loads(function.arguments) if choice.finish_reason else function.arguments
    return {
        "text": choice.message.content,
        "call": function.name,
        "input": arguments,
        "end": choice.finish_reason,
    }


def ask_responses(url: str) -> dict[str, Any]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    with client.responses.stream(model="any", input=QUESTION) as stream:
        response = stream.get_final_response()
    call = response.output[1]
    return {
        "text": response.output_text,
        "call": call.name,
        "input": json.loads(call.arguments),
        "end": response.status,
    }


APIS = [
    Api(
        name="anthropic",
        recording="anthropic.rec",
        ask=ask_anthropic,
        end="tool_use",
        # Not an error of its own: that of the HTTP library comes through.
        broken=Raises(httpx2.RemoteProtocolError, "peer closed connection"),
        # A message that looks whole, with a call that has no arguments; only the missing reason tells.
        short={**EXPECTED, "input": {}, "end": None},
        misfit=anthropic.ConflictError,
    ),
    Api(
        name="openai chat",
        recording="openai-chat.rec",
        ask=ask_chat,
        end="tool_calls",
        broken=Raises(openai.APIConnectionError, "Connection error"),
        short={**EXPECTED, "input": '{"city": "Zü', "end": None},
        misfit=openai.ConflictError,
    ),
    Api(
        name="openai responses",
        recording="openai-responses.rec",
        ask=ask_responses,
        end="completed",
        broken=Raises(openai.APIConnectionError, "Connection error"),
        short=Raises(RuntimeError, "Didn't receive a `response.completed` event"),
        misfit=openai.ConflictError,
    ),
]


@contextlib.contextmanager
def serving(file: pathlib.Path, *options: str):
    """A server of a file, as its address."""
    command = [REKNIT, "replay", str(file), "--serve", "0", "--speed", "max", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as server:
        try:
            line = server.stderr.readline().strip()
            assert line.startswith("listening on "), line
            yield line.removeprefix("listening on ")
        finally:
            server.kill()


def check(ask: Callable[[str], dict[str, Any]], url: str, expected: Raises | dict[str, Any]) -> None:
    try:
        reply = ask(url)
    except Exception as error:
        if not isinstance(expected, Raises) or not isinstance(error, expected.error):
            raise
        assert expected.words in str(error), error
        return
    assert reply == expected, (reply, expected)


def check_api(api: Api, other: Api) -> None:
    recording = FOLDER / "recordings" / api.recording
    played = subprocess.run([REKNIT, "replay", recording, "--speed", "max"], capture_output=True, check=True)
    inside = played.stdout.index(b"days")
    whole = {**EXPECTED, "end": api.end}
    with serving(recording) as url:
        check(api.ask, url, whole)
    with serving(recording, "--recut", "bytes") as url:
        check(api.ask, url, whole)
    with serving(FOLDER / "recordings" / other.recording) as url:
        check(api.ask, url, Raises(api.misfit, "the recording is `"))
    with serving(recording, "--cut", str(inside)) as url:
        check(api.ask, url, api.broken)
    with tempfile.TemporaryDirectory() as scratch:
        short = pathlib.Path(scratch) / "short.sse"
        short.write_bytes(played.stdout[: played.stdout.rindex(b"\n\n", 0, inside) + 2])
        with serving(short) as url:
            check(api.ask, url, api.short)


for index, api in enumerate(APIS):
    check_api(api, APIS[index - 1])
    print(f"ok   Python, {api.name}")
