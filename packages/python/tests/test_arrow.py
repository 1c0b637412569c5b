"""`reknit.arrow.messages`: the same as one by one, whatever the column, and used by DuckDB and Ray."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import corpus
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reknit
import reknit.arrow

EXAMPLES = pathlib.Path(os.environ["REKNIT_ROOT"]) / "packages/python/examples"


def streams() -> list[bytes]:
    """The inputs of all cases of the corpus that are streams."""
    cases = [case for dialect in corpus.cases("wire") for case in corpus.cases(f"wire/{dialect.name}")]
    return [corpus.input_of(case) for case in cases]


def row_of(stream: bytes | None) -> dict[str, Any]:
    """A row as it must be, from the message of the stream alone."""
    if stream is None:
        return dict.fromkeys(NAMES)
    reply = reknit.Reply()
    reply.push(stream)
    reply.finish()
    message, error = reply.message, reply.error
    blocks = message.blocks
    usage = message.usage
    unreadable = error is not None and message.status == "cut" and not blocks
    return {
        "status": "unreadable" if unreadable else message.status,
        "dialect": reply.dialect,
        "model": message.model,
        "stop_reason": message.stop_reason,
        "usage": {name: getattr(usage, name) for name in USAGE},
        "text": message.text,
        "calls": [call_of(block) for block in blocks if block["type"] == "tool_call"],
        "diagnostics": [
            {"kind": found.kind, "message": found.message, "at_byte": found.at_byte} for found in message.diagnostics
        ],
        "error": None if error is None else {"kind": error.kind, "message": error.message, "hint": error.hint},
    }


NAMES = ["status", "dialect", "model", "stop_reason", "usage", "text", "calls", "diagnostics", "error"]
USAGE = ["input", "output", "cache_read", "cache_write", "reasoning"]


def call_of(block: dict[str, Any]) -> dict[str, Any]:
    found = {"id": block["id"], "name": block["name"], "end": block.get("end")}
    return {**found, "input": block.get("input"), "raw": block.get("raw")}


def rows(table: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    found = table.to_pylist()
    for row in found:
        for call in row["calls"] or []:
            call["input"] = None if call["input"] is None else json.loads(call["input"])
    return found


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string(), pa.string_view()]
)
def test_every_stream_of_the_corpus_is_a_row(kind: Any) -> None:
    given: list[Any] = [None, b"", b"<html>", b"hi", *streams(), None]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        given = [stream for stream in given if stream is None or is_text(stream)]
    batch = pa.record_batch({"raw": pa.array(given, kind)})
    table = reknit.arrow.messages(batch, "raw")
    table.validate(full=True)
    assert table.schema.names == NAMES
    assert rows(table) == [row_of(stream) for stream in given]
    # A slice begins in the middle of its buffers, and in the middle of a byte of the bits for nulls.
    sliced = reknit.arrow.messages(batch.slice(3, 11), "raw")
    assert rows(sliced) == [row_of(stream) for stream in given[3:14]]


def is_text(stream: bytes) -> bool:
    try:
        stream.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_tables_of_any_number_of_chunks() -> None:
    given = streams()[:20]
    column = pa.chunked_array([given[:7], [], given[7:]], type=pa.binary())
    table = reknit.arrow.messages(pa.table({"raw": column, "id": range(20)}), "raw")
    assert isinstance(table, pa.Table)
    assert rows(table) == [row_of(stream) for stream in given]
    empty = reknit.arrow.messages(pa.table({"raw": pa.chunked_array([], type=pa.binary())}), "raw")
    assert (empty.num_rows, empty.schema) == (0, table.schema)


def test_calls_in_text_are_found() -> None:
    delta = {"content": '<tool_call>{"name": "now", "arguments": {}}</tool_call>'}
    stream = f"data: {json.dumps({'choices': [{'delta': delta, 'finish_reason': 'stop'}]})}\n\n".encode()
    [row] = rows(reknit.arrow.messages(pa.record_batch({"raw": [stream]}), "raw", profile="hermes"))
    assert [call["name"] for call in row["calls"]] == ["now"]


def test_threads_read_the_same() -> None:
    batches = [pa.record_batch({"raw": streams()}) for _ in range(8)]
    alone = reknit.arrow.messages(batches[0], "raw")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for table in pool.map(lambda batch: reknit.arrow.messages(batch, "raw"), batches):
            assert table.equals(alone)


def test_wrong_columns_are_refused() -> None:
    batch = pa.record_batch({"raw": [b""], "number": [1]})
    with pytest.raises(ValueError, match="there is no column `row`\nhint: use one of raw, number"):
        reknit.arrow.messages(batch, "row")
    with pytest.raises(TypeError, match="must be binary or string, but its Arrow format is `l`"):
        reknit.arrow.messages(batch, "number")
    with pytest.raises(TypeError, match="must be a pyarrow.RecordBatch or a pyarrow.Table, not `list`"):
        reknit.arrow.messages([b""], "raw")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="there is no profile `hermse`\nhint: did you mean `hermes`"):
        reknit.arrow.messages(batch, "raw", profile="hermse")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[pathlib.Path]:
    """Two files of logs: all streams of the corpus, and two things that are not streams."""
    folder = tmp_path_factory.mktemp("logs")
    given = [b"<html>", b"", *streams()]
    for name, part in [("one", given[0::2]), ("two", given[1::2])]:
        pq.write_table(pa.table({"raw": part}), folder / f"{name}.parquet", row_group_size=50)
    return sorted(folder.glob("*.parquet"))


def counts(files: list[pathlib.Path], of: Callable[[dict[str, Any]], str | None]) -> dict[str, int]:
    """How many streams of the files have each status, or each kind of error."""
    found = [of(row_of(stream)) for file in files for stream in pq.read_table(file).column("raw").to_pylist()]
    return {name: found.count(name) for name in sorted({name for name in found if name is not None})}


def status(row: dict[str, Any]) -> str | None:
    return row["status"]


def error_kind(row: dict[str, Any]) -> str | None:
    return row["error"] and row["error"]["kind"]


def example(name: str, files: list[pathlib.Path]) -> str:
    # Ray would otherwise report to its makers that it is used.
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, EXAMPLES / name, *files]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_example_for_duckdb(logs: list[pathlib.Path]) -> None:
    printed = example("duckdb_logs.py", logs[:1])
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
    of_status = {row[0]: int(row[1]) for row in cells if len(row) == 3 and row[1].isdigit()}
    assert of_status == counts(logs[:1], status), printed
    of_kind = {row[0]: int(row[1]) for row in cells if len(row) == 2 and row[1].isdigit()}
    assert of_kind == counts(logs[:1], error_kind), printed


def test_the_example_for_ray_with_two_workers(logs: list[pathlib.Path]) -> None:
    printed = example("ray_logs.py", logs)
    expected = counts(logs, status)
    lines = printed.splitlines()[-len(expected) :]
    assert {name: int(count) for name, count in (line.split() for line in lines)} == expected, printed
