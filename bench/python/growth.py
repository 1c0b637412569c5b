"""How the work grows when the input doubles."""

from collections.abc import Callable

import columns
import inputs
import look
import message
import pyarrow as pa
from measure import Effort, Row, Runner, Target, measure

DOUBLINGS = 3


def series(size: int, make: Callable[[int], Callable[[], object]], effort: Effort) -> list[float]:
    """How many times as long each doubling takes as the size before."""
    works = [make(size << step) for step in range(DOUBLINGS + 1)]
    rows = [Row(str(step), [Runner("reknit", work)]) for step, work in enumerate(works)]
    times = [measure(row, effort).fastest() for row in rows]
    return [after / before for before, after in zip(times, times[1:])]


def run(effort: Effort, quick: bool) -> tuple[str, list[Target]]:
    scale = 1 if quick else 4

    def looked_at(shape: str) -> Callable[[int], Callable[[], object]]:
        def make(size: int) -> Callable[[], object]:
            pieces = inputs.pieces_of(inputs.argument(shape, size), inputs.DELTA)
            return lambda: look.ours(pieces)

        return make

    def message_of(deltas: int) -> Callable[[], object]:
        reads = inputs.reads_of(inputs.text_stream(deltas), message.READ)
        return lambda: message.ours(reads)

    def columns_of(count: int) -> Callable[[], object]:
        batch = pa.record_batch({"raw": columns.recordings(count)})
        return lambda: columns.read(batch)

    measured = {f"look at {shape}": series(25 * scale * inputs.KB, looked_at(shape), effort) for shape in inputs.SHAPES}
    measured["bytes to message"] = series(1_250 * scale, message_of, effort)
    measured["arrow.messages"] = series(250 * scale, columns_of, effort)
    width = max(len(name) for name in measured)
    lines = ["how many times as long with twice the input, at each doubling"]
    for name, factors in measured.items():
        lines.append(f"{name:{width}}  " + "  ".join(f"{factor:.2f}" for factor in factors))
    targets = [
        Target(f"{name}: growth at each doubling", None, 2.2, max(factors)) for name, factors in measured.items()
    ]
    return "\n".join(lines) + "\n", targets
