"""Time, taken so that it can be compared on a machine that others use too."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass
class Effort:
    """How much is measured: so many runs, unless they take longer than that in all."""

    runs: int
    seconds: float


@dataclass
class Runner:
    """Something that is timed. What it returns must be what all others in the row return."""

    name: str
    work: Work
    scale: float = 1.0
    """How many times the work of the run all of the work is, if it is only a sample."""


@dataclass
class Row:
    """One input, and all who read it; the first is ours."""

    name: str
    runners: list[Runner]


@dataclass
class Measured:
    name: str
    times: dict[str, list[float]]
    sampled: list[str]

    def ours(self) -> float:
        return statistics.median(next(iter(self.times.values())))

    def fastest(self) -> float:
        """Our fastest run: whatever disturbs one only adds to it."""
        return min(next(iter(self.times.values())))

    def ratio(self, peer: str) -> float | None:
        """How many times as long a peer took: the median over the runs that both had."""
        first = next(iter(self.times.values()))
        theirs = self.times.get(peer)
        return theirs and statistics.median(theirs[at] / first[at] for at in range(min(len(theirs), len(first))))


@dataclass
class Target:
    what: str
    least: float | None
    most: float | None
    value: float

    @property
    def is_missed(self) -> bool:
        return (self.least is not None and self.value < self.least) or (
            self.most is not None and self.value > self.most
        )

    def line(self) -> str:
        bound = f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"
        return f"{self.what:<66} {bound:<16} {self.value:.2f} {'MISSED' if self.is_missed else 'ok'}"


def measure(row: Row, effort: Effort, clock: Callable[[], float] = time.thread_time) -> Measured:
    """Runs all in turn, so that a slow spell of the machine hits a run of each."""
    planned: list[int] = []
    results: list[object] = []
    for runner in row.runners:
        start = time.perf_counter()
        results.append(runner.work())
        affordable = effort.seconds / max(time.perf_counter() - start, 1e-9)
        planned.append(max(3, min(effort.runs, int(affordable))))
    assert all(result == results[0] for result in results), f"{row.name}: not everyone read the same"
    times: dict[str, list[float]] = {runner.name: [] for runner in row.runners}
    gc.collect()
    for run in range(effort.runs):
        for runner, runs in zip(row.runners, planned):
            if run < runs:
                start = clock()
                runner.work()
                times[runner.name].append((clock() - start) * runner.scale)
    return Measured(row.name, times, [runner.name for runner in row.runners if runner.scale != 1.0])


def table(title: str, rows: list[Measured]) -> str:
    peers = list(dict.fromkeys(name for row in rows for name in list(row.times)[1:]))
    width = max(len(row.name) for row in rows)
    lines = [title, f"{'':{width}}  {'reknit':>10}" + "".join(f"  {peer:>20}" for peer in peers)]
    for row in rows:
        cells = ""
        for peer in peers:
            ratio = row.ratio(peer)
            mark = "~" if peer in row.sampled else ""
            cells += f"  {'-' if ratio is None else f'{mark}{ratio:.1f}x':>20}"
        lines.append(f"{row.name:{width}}  {row.ours() * 1e3:>7.2f} ms{cells}")
    return "\n".join(lines) + "\n"
