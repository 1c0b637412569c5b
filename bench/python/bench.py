"""The Python package next to its peers, with the border to Python included.

Run by `cargo xtask bench python`; the README of the benchmarks says how to read what it prints.
"""

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import platform
import sys

import columns
import growth
import look
import message
from measure import Effort, Target

PEERS = ["jiter", "partial-json-parser", "anthropic", "pyarrow"]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--quick", action="store_true", help="smaller inputs and fewer runs")
    arguments.add_argument("--record", action="store_true", help="also write the table to bench/records/")
    chosen = arguments.parse_args()
    if chosen.quick and chosen.record:
        arguments.error("`--record` is not possible with `--quick`, whose inputs are smaller")
    effort = Effort(runs=3, seconds=0.3) if chosen.quick else Effort(runs=11, seconds=10)
    lines: list[str] = []

    def say(text: str) -> None:
        print(text, flush=True)
        lines.append(text)

    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PEERS)
    load = os.getloadavg()[0]
    say(f"reknit for Python {platform.python_version()}, {os.cpu_count()} processors, load {load:.2f}\n{versions}")
    say(f"processor time of the thread, medians of {effort.runs} runs; a column of a peer: how many times as long\n")
    targets: list[Target] = []
    for group in (look, message, columns, growth):
        table, reached = group.run(effort, chosen.quick)
        say(table)
        targets += reached
    for target in targets:
        say(target.line())
    if chosen.record:
        records = pathlib.Path(__file__).parents[1] / "records"
        file = records / f"python-{datetime.date.today()}.txt"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"written to {file}", file=sys.stderr)
    return 1 if any(target.is_missed for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
