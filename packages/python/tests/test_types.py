"""The types, as mypy and pyright see them in strict mode, and next to the module that they describe."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import reknit

ROOT = pathlib.Path(os.environ["REKNIT_ROOT"])
PACKAGE = ROOT / "packages/python"
CHECKED = [PACKAGE / "tests/types", pathlib.Path(reknit.__file__).parent]


def run(*command: str | pathlib.Path, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)


def test_mypy(tmp_path: pathlib.Path) -> None:
    # The types of the SDKs take a while, so what is known of them is kept.
    options = ["--strict", "--warn-unreachable", "--cache-dir", os.environ["REKNIT_MYPY_CACHE"]]
    users = sorted(CHECKED[0].glob("*.py"))
    # An installed package is not checked if it is only imported.
    for what in [users, ["-p", "reknit"]]:
        ran = run("mypy", *options, *what, folder=tmp_path)
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.skipif(shutil.which("node") is None, reason="left out: pyright, because `node` is not installed")
def test_pyright(tmp_path: pathlib.Path) -> None:
    config = {
        # It ignores what is not relative.
        "include": [os.path.relpath(folder, tmp_path) for folder in CHECKED],
        "exclude": [],
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": True,
        "pythonVersion": f"{sys.version_info[0]}.{sys.version_info[1]}",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    ran = run("pyright", "--pythonpath", sys.executable, "--outputjson", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    checked = sum(len([*folder.glob("*.py"), *folder.glob("*.pyi")]) for folder in CHECKED)
    assert json.loads(ran.stdout)["summary"]["filesAnalyzed"] == checked, ran.stdout


def test_the_stubs_describe_the_module(tmp_path: pathlib.Path) -> None:
    ran = run("mypy.stubtest", "reknit._reknit", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
