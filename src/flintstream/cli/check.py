"""``flintstream check``: reads programs without running them, and reports what works here and what does not."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click

from flintstream.cli.checking.finding import ERROR, NOTE, UNREAD
from flintstream.cli.checking.program import check_program, uses_pyflink
from flintstream.cli.jobs import SETTINGS
from flintstream.cli.printable import printable
from flintstream.compat import pyflink

SKIPPED = {".git", ".venv", "__pycache__", "node_modules", "site-packages", "venv"}


@click.command("check", context_settings=SETTINGS)
@click.option("--strict", is_flag=True, help="List SQL that cannot be checked; the exit code is 3 if there is any.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def check_command(paths: tuple[Path, ...], *, strict: bool) -> None:
    """Check which parts of programs work here, without running them.

    Each of PATHS is a Python file, or a directory whose files are read if they import pyflink. The exit code is 1 if
    a program cannot work unchanged. SQL that a program builds while it runs is not checked, only counted; with
    --strict, each such statement is listed, and the exit code is 3 if there is one and no error.
    """
    pyflink.install()
    verdicts: Counter[str] = Counter()
    unread = 0
    for path in _programs(paths):
        try:
            findings = check_program(path)
        except (SyntaxError, UnicodeDecodeError, ValueError) as error:
            click.echo(printable(f"{path}: error: Python cannot read it: {error}"))
            verdicts[ERROR] += 1
            continue
        unread += sum(finding.kind == UNREAD for finding in findings)
        findings = [finding for finding in findings if strict or finding.kind != UNREAD]
        for finding in findings:
            click.echo(printable(f"{path}:{finding.line}: {finding.kind}: {finding.text}"))
        kinds = {finding.kind for finding in findings}
        verdicts[ERROR if ERROR in kinds else NOTE if kinds else "fine"] += 1
    if not verdicts:
        click.echo("no Python file in these paths imports pyflink")
        return
    total = sum(verdicts.values())
    click.echo(
        f"{total} program{'s' if total > 1 else ''}: {verdicts['fine']} without a finding, "
        f"{verdicts[NOTE]} with notes, {verdicts[ERROR]} with errors"
        + (f"; {unread} statement{'s' if unread > 1 else ''} not checked" if unread else "")
    )
    if verdicts[ERROR]:
        sys.exit(1)
    if strict and unread:
        sys.exit(3)


def _programs(paths: tuple[Path, ...]) -> list[Path]:
    """Return the files named, and those below the directories named that import pyflink."""
    found = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        below = (file for file in sorted(path.rglob("*.py")) if not SKIPPED.intersection(file.relative_to(path).parts))
        found += [file for file in below if uses_pyflink(file)]
    return found
