"""Compare the verdict of ``flintstream check`` on each program with what happens when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flintstream.cli.checking.finding import ERROR, NOTE
from flintstream.cli.checking.program import check_program
from flintstream.compat import pyflink

if TYPE_CHECKING:
    from pathlib import Path

    from tests.corpus.listing import Program

UNTRIED = ("missing", "connector")
"""The kinds of programs that lack a service to run with."""


class Shares(NamedTuple):
    """What a check foresees."""

    failed: int
    """Programs that fail, for reasons that are in the program."""

    foreseen: int
    ran: int
    false: int
    """Programs that run, and have an error by the check."""


def check_all(programs: list[Program], folder: Path) -> None:
    """Note the verdict on each program that is in a folder of checkouts."""
    pyflink.install()
    for program in programs:
        file = program.checkout(folder) / program.file
        if file.is_file():
            program.checked = verdict(file)


def verdict(file: Path) -> str:
    """Return the worst kind of finding in a program, or ``fine``."""
    try:
        kinds = {finding.kind for finding in check_program(file)}
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return ERROR
    return ERROR if ERROR in kinds else NOTE if NOTE in kinds else "fine"


def shares(programs: list[Program]) -> Shares:
    """Count the programs with both a verdict and a run."""
    known = [program for program in programs if program.checked and program.counted not in UNTRIED]
    failed = [program for program in known if program.after == "fails"]
    ran = [program for program in known if program.after == "runs"]
    return Shares(
        len(failed),
        sum(program.checked == ERROR for program in failed),
        len(ran),
        sum(program.checked == ERROR for program in ran),
    )
