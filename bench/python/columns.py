"""`arrow.messages` over many recordings, next to a loop in Python, and with two threads."""

import concurrent.futures
import json
import time
from typing import Any

import inputs
import pyarrow as pa
import pyarrow.compute as pc
import reknit.arrow
from measure import Effort, Row, Runner, Target, measure, table

LOOP = "a loop over json"
ONE = "one thread"
BATCH = 500

# Text, calls, tokens: what is compared.
Summary = tuple[int, int, int]


def recordings(count: int) -> list[bytes]:
    """Replies of 40 events each: half text, half a call."""
    streams = [inputs.text_stream(35), inputs.call_stream("an escaped source file", 35 * inputs.DELTA)]
    return [streams[number % 2].replace(b"msg_1", f"msg_{number}".encode()) for number in range(count)]


def read(batch: pa.RecordBatch) -> Summary:
    table = reknit.arrow.messages(batch, "raw")
    # The offsets say how long the texts and lists are, without an object for each.
    text: Any = table.column("text")
    calls: Any = table.column("calls")
    tokens = table.column("usage").field("output")
    return pc.sum(pc.binary_length(text)).as_py(), len(calls.flatten()), pc.sum(tokens).as_py()


def in_python(streams: list[bytes]) -> Summary:
    """What one writes without a library."""
    texts = calls = tokens = 0
    for stream in streams:
        text: list[str] = []
        arguments = ""
        usage: dict[str, int] = {}
        for frame in stream.decode().split("\n\n"):
            for line in frame.split("\n"):
                if not line.startswith("data: "):
                    continue
                event = json.loads(line[6:])
                match event["type"]:
                    case "content_block_delta" if event["delta"]["type"] == "text_delta":
                        text.append(event["delta"]["text"])
                    case "content_block_delta":
                        arguments += event["delta"]["partial_json"]
                    case "message_start":
                        usage |= event["message"]["usage"]
                    case "message_delta":
                        usage |= event["usage"]
                    case _:
                        pass
        texts += len("".join(text).encode())
        calls += bool(arguments and json.loads(arguments))
        tokens += usage["output_tokens"]
    return texts, calls, tokens


def total(parts: list[Summary]) -> Summary:
    text, calls, tokens = (sum(column) for column in zip(*parts))
    return text, calls, tokens


def run(effort: Effort, quick: bool) -> tuple[str, list[Target]]:
    count = 1_000 if quick else 10_000
    streams = recordings(count)
    batches = [pa.record_batch({"raw": streams[at : at + BATCH]}) for at in range(0, count, BATCH)]
    alone = Row(
        f"{count:,} recordings",
        [
            Runner("reknit", lambda: total([read(batch) for batch in batches])),
            Runner(LOOP, lambda: in_python(streams)),
        ],
    )
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        shared = Row(
            "the same with two threads, by the clock",
            [
                Runner("reknit", lambda: total(list(pool.map(read, batches)))),
                Runner(ONE, lambda: total([read(batch) for batch in batches])),
            ],
        )
        rows = [measure(alone, effort), measure(shared, effort, time.perf_counter)]
    targets = [Target("arrow.messages with two threads: times as fast as with one", 1.6, None, rows[1].ratio(ONE) or 0)]
    return table("raw streams to columns", rows), targets
