"""The cases of `corpus/edit`: files byte for byte, the report, and the JSON that the command line prints."""

import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import corpus
import reknit
from corpus import expected, same_for_every_cut

REKNIT = os.environ["REKNIT"]

# Words of the report that are only for people, and not in its JSON.
ONLY_WORDS = ("  note: ", "  inside ", "  repaired, ")


def files_below(folder: pathlib.Path) -> dict[str, bytes]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def format_of(case: pathlib.Path) -> str | None:
    file = case / "format"
    return file.read_text(encoding="utf-8").strip() if file.exists() else None


def test_edits(record_property: Callable[[str, object], None]) -> None:
    cases = corpus.cases("edit")
    for case in cases:
        before = files_below(case / "before")

        def apply(pieces: list[str]) -> tuple[str, dict[str, Any]]:
            applied = reknit.apply_edits(before, pieces, format=format_of(case), keep_going=True)
            # Where there are no files, new ones are text.
            files = {path: new.encode() if isinstance(new, str) else new for path, new in applied.files.items()}
            return applied.to_json(), files

        report, changed = same_for_every_cut(expected(case, "answer.txt"), apply)
        after = {path: content for path, content in {**before, **changed}.items() if content is not None}
        assert (after if after != before else {}) == files_below(case / "after"), case
        said = [line for line in expected(case, "report.txt").splitlines() if not line.startswith(ONLY_WORDS)]
        assert list(report_lines(json.loads(report), changed, format_of(case))) == said, case
        applied = reknit.apply_edits(before, expected(case, "answer.txt"), format=format_of(case), keep_going=True)
        assert applied.report == json.loads(report), case
    record_property("corpus/edit", len(cases))


def report_lines(report: dict[str, Any], changed: dict[str, Any], named: str | None) -> Iterator[str]:
    """The lines of `report.txt`, from the report as JSON."""
    if named is None:
        yield f"format {report.get('format', 'not found')}"
    for file in report["files"]:
        path = file["path"] or "without a name"
        match file["action"]:
            case "move":
                yield f"file {path}: move to {file['to']}"
            case "update" if file["path"] not in changed:
                yield f"file {path}: as it is"
            case action:
                yield f"file {path}: {action}"
        for edit in file["edits"]:
            yield from edit_lines(edit)
    for problem in report["problems"]:
        if problem["kind"] == "no-edits":
            yield "nothing"
            continue
        line = f"line {problem['line']} of the answer: {problem['message']}: `{problem['snippet']}`"
        yield f"problem {problem['kind']}: {line}"
        yield f"  hint: {problem['hint']}"


def edit_lines(edit: dict[str, Any]) -> Iterator[str]:
    start = f"edit {edit['index'] + 1}, line {edit['line']}: "
    match edit["outcome"]:
        case "applied":
            places = edit.get("places") or [edit["lines"]] if "lines" in edit else []
            yield f"{start}applied, {edit['how']}, {' and '.join(lines(*place) for place in places)}"
        case "rejected":
            yield f"{start}rejected, {edit['reason']}: {edit['message']}"
            yield f"  hint: {edit['hint']}"
            if "closest" in edit:
                closest = edit["closest"]
                yield f"  closest: {lines(*closest['lines'])}, score {closest['score']:.2f}"
                yield from (f"    {line}" for line in closest["diff"].removesuffix("\n").split("\n"))
        case outcome:
            yield f"{start}{outcome}"


def lines(first: int, last: int) -> str:
    if last < first:
        return f"before line {first}"
    return f"line {first}" if last == first else f"lines {first}-{last}"


def test_the_report_is_that_of_the_command_line(record_property: Callable[[str, object], None]) -> None:
    compared = 0
    for case in corpus.cases("edit"):
        before, name = files_below(case / "before"), format_of(case)
        with tempfile.TemporaryDirectory() as folder:
            for path, content in before.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            command = [REKNIT, "apply", "--root", folder, "--dry-run", "--json", "--format", name or "auto"]
            for options, keep_going in (([], False), (["--keep-going"], True)):
                ran = subprocess.run([*command, *options, case / "answer.txt"], capture_output=True)
                assert ran.returncode in (0, 1), ran.stderr
                theirs = ran.stdout.decode().removesuffix("\n")
                if any(is_of_folders(file) for file in json.loads(theirs)["files"]):
                    continue
                ours = reknit.apply_edits(before, expected(case, "answer.txt"), format=name, keep_going=keep_going)
                assert ours.to_json().replace("with `format`", "with `--format`") == theirs, case
                compared += 1
    assert compared > 100, compared
    record_property("reports compared with the command line", compared)


def is_of_folders(file: dict[str, Any]) -> bool:
    """Whether the command line knows less: an edit that names no file has none, and one that is moved is not read."""
    is_only_moved = file.get("action") == "move" and all(edit["lines"] == [1, 0] for edit in file["edits"])
    return not file["path"] or "action" not in file or is_only_moved


def test_what_goes_in_as_text_comes_out_as_text() -> None:
    answer = "a.txt\n<<<<<<< SEARCH\nold\n=======\nnéw\n>>>>>>> REPLACE\n"
    assert reknit.apply_edits({"a.txt": "old\n"}, answer).files == {"a.txt": "néw\n"}
    assert reknit.apply_edits({"a.txt": b"old\n"}, answer).files == {"a.txt": "néw\n".encode()}
    refused = reknit.apply_edits({"a.txt": "old\nold\n"}, answer)
    assert (refused.is_whole, refused.files) == (False, {})
    assert refused.report["files"][0]["edits"][0]["reason"] == "ambiguous"
