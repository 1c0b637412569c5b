"""The folders of `corpus/`, which the engine's own tests read too."""

import os
import pathlib
import random
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

CORPUS = pathlib.Path(os.environ["REKNIT_ROOT"]) / "corpus"

Cut = TypeVar("Cut", bytes, str)
Outcome = TypeVar("Outcome")

_TOKENS = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')


def cases(kind: str) -> list[pathlib.Path]:
    """The folders of the cases of a kind."""
    folders = sorted(folder for folder in (CORPUS / kind).iterdir() if folder.is_dir())
    assert folders, f"no case in corpus/{kind}"
    return folders


def input_of(case: pathlib.Path) -> bytes:
    [file] = [file for file in case.iterdir() if file.stem in ("input", "answer") and file.is_file()]
    return file.read_bytes()


def expected(case: pathlib.Path, name: str) -> str:
    return (case / name).read_bytes().decode()


def compact(pretty: str) -> str:
    """A JSON text without the whitespace between its tokens, and otherwise byte for byte as it was."""
    return _TOKENS.sub(lambda found: found[1] or "", pretty)


def cuts(whole: Cut) -> Iterator[list[Cut]]:
    """A text or bytes cut in several ways: not, at every place, and at random ones, the same in every run."""
    yield [whole]
    if len(whole) < 3000:
        yield [whole[at : at + 1] for at in range(len(whole))]
    for seed in range(6):
        numbers = random.Random(seed)
        longest = numbers.randrange(2, 200)
        pieces: list[Cut] = []
        at = 0
        while at < len(whole):
            length = numbers.randrange(longest)
            pieces.append(whole[at : at + length])
            at += length
        yield pieces


def same_for_every_cut(whole: Cut, run: Callable[[list[Cut]], Outcome]) -> Outcome:
    """Runs over each cut, which must all have the same outcome."""
    first, *others = (run(pieces) for pieces in cuts(whole))
    for other in others:
        assert other == first
    return first
