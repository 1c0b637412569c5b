"""A tool argument in deltas, with a look at the value after each."""

import functools
from collections.abc import Callable
from typing import Any

import inputs
import jiter
import partial_json_parser
import reknit
from measure import Effort, Measured, Row, Runner, Target, measure, table

JITER = "jiter"
PARTIAL = "partial-json-parser"

# How many bytes a peer that reads everything again may read in a run; the other looks are estimated.
PATIENCE = {JITER: 16 << 20, PARTIAL: 1 << 20}


def ours(pieces: list[str]) -> Any:
    partial = reknit.PartialJson()
    value: Any = None
    for piece in pieces:
        partial.push(piece)
        value = partial.value
    return value


def again(prefixes: list[Any], whole: Any, parse: Callable[[Any], object]) -> object:
    """A peer that parses all that has come, after each delta."""
    for so_far in prefixes:
        parse(so_far)
    return parse(whole)


def sample(argument: str, patience: int) -> tuple[list[int], float]:
    """Where the looks end: after each delta, or in the middle of equal parts of them; and how many are estimated.

    The work of a look grows with what has come, so the looks in the middle represent their parts.
    """
    steps = -(-len(argument) // inputs.DELTA)
    affordable = max(4, patience // (len(argument) // 2))
    if affordable >= steps:
        return [(step + 1) * inputs.DELTA for step in range(steps)], 1.0
    ends = [max(1, steps * (2 * part + 1) // (2 * affordable)) * inputs.DELTA for part in range(affordable)]
    # The whole is parsed once more for the result.
    return ends, steps / (affordable + 1)


def row(shape: str, size: int) -> Row:
    argument = inputs.argument(shape, size)
    data = argument.encode()
    parsers: list[tuple[str, Any, Callable[[Any], object]]] = [
        (JITER, data, lambda so_far: jiter.from_json(so_far, partial_mode="trailing-strings")),
        (PARTIAL, argument, partial_json_parser.loads),
    ]
    pieces = inputs.pieces_of(argument, inputs.DELTA)
    runners = [Runner("reknit", lambda: ours(pieces))]
    for name, given, parse in parsers:
        ends, scale = sample(argument, PATIENCE[name])
        # Cut before they are timed, as our pieces are.
        prefixes = [given[:end] for end in ends]
        runners.append(Runner(name, functools.partial(again, prefixes, given, parse), scale))
    return Row(f"{shape}, {size // inputs.KB} KB", runners)


def run(effort: Effort, quick: bool) -> tuple[str, list[Target]]:
    size = 100 * inputs.KB
    rows: list[Measured] = [measure(row(shape, size), effort) for shape in inputs.SHAPES]
    plain, escaped, _ = rows
    targets = [
        Target(f"look at {escaped.name}: times as fast as jiter", 100, None, escaped.ratio(JITER) or 0),
        Target(f"look at {plain.name}: times as fast as jiter", 10, None, plain.ratio(JITER) or 0),
        Target(f"look at {escaped.name}: times {PARTIAL}", 1000, None, escaped.ratio(PARTIAL) or 0),
        Target(f"look at {plain.name}: times {PARTIAL}", 1000, None, plain.ratio(PARTIAL) or 0),
    ]
    return table("tool arguments in 16-byte deltas, a look at the value after each", rows), targets
