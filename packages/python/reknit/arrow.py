"""Raw streams in columns, for logs of any size: `messages`.

Needs `pyarrow`, which `pip install reknit[arrow]` brings along.
"""

from typing import TYPE_CHECKING, Any, overload

from reknit._reknit import _read_column
from reknit._types import Dialect, Limits

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["messages"]


class _Exported:
    """An array that others take through Arrow's C data interface."""

    def __init__(self, capsules: tuple[object, object]) -> None:
        self._capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._capsules


@overload
def messages(
    batch: "pa.RecordBatch",
    column: str,
    *,
    dialect: Dialect | None = None,
    profile: str | None = None,
    grammar: str | None = None,
    tools: list[dict[str, Any]] | str | None = None,
    limits: Limits | None = None,
) -> "pa.RecordBatch": ...
@overload
def messages(
    batch: "pa.Table",
    column: str,
    *,
    dialect: Dialect | None = None,
    profile: str | None = None,
    grammar: str | None = None,
    tools: list[dict[str, Any]] | str | None = None,
    limits: Limits | None = None,
) -> "pa.Table": ...
def messages(
    batch: Any,
    column: str,
    *,
    dialect: Dialect | None = None,
    profile: str | None = None,
    grammar: str | None = None,
    tools: list[dict[str, Any]] | str | None = None,
    limits: Limits | None = None,
) -> Any:
    """Reads the raw streams in a binary column. Returns a row for each, in the same order.

    The columns are `status`, `dialect`, `model`, `stop_reason`, `usage` (a struct), `text`, `calls` (a list of
    structs: `id`, `name`, `end`, and `input` as JSON, or `raw` if the `end` is not `closed`), `diagnostics` (a list
    of structs) and `error` (a struct). If a stream has several messages, it is the last one. A call may be run if
    its `end` is `closed` and the `status` is `stopped`.

    A stream that cannot be read is a row with the status `unreadable` and its error; null is a row of nulls. The
    global lock is released, so threads read several batches at the same time. The other arguments are those of
    `reknit.Reply`.

    >>> import pyarrow as pa
    >>> streams = [b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\\n\\n', b"<html>"]
    >>> table = reknit.arrow.messages(pa.record_batch({"raw": streams}), "raw")
    >>> table.column("status").to_pylist(), table.column("text").to_pylist()
    (['stopped', 'unreadable'], ['Hi', ''])
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError("reknit.arrow needs pyarrow\nhint: pip install reknit[arrow]") from error
    if not isinstance(batch, (pa.RecordBatch, pa.Table)):
        name = type(batch).__name__
        raise TypeError(
            f"a batch must be a pyarrow.RecordBatch or a pyarrow.Table, not `{name}`\n"
            "hint: pyarrow.record_batch(…) and pyarrow.table(…) make one of most things"
        )
    if column not in batch.schema.names:
        names = ", ".join(batch.schema.names)
        raise ValueError(f"there is no column `{column}`\nhint: use one of {names}")

    def read(array: object) -> "pa.RecordBatch":
        capsules = _read_column(
            array, dialect=dialect, profile=profile, grammar=grammar, tools=tools, limits=limits
        )
        return pa.record_batch(_Exported(capsules))

    is_table = isinstance(batch, pa.Table)
    given: Any = batch
    if not is_table:
        return read(given.column(column))
    chunks: list[Any] = given.column(column).chunks
    # A table without chunks still has its columns.
    chunks = chunks or [pa.array([], type=given.schema.field(column).type)]
    return pa.Table.from_batches([read(chunk) for chunk in chunks])
