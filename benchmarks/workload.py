"""What a workload is, and what a run of it is given. Needs nothing but Python: the engines' environments read it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SPREAD = 2_654_435_761
"""Odd and no multiple of 5: times this, modulo a power of ten, consecutive numbers visit all keys equally often."""
SAMPLE = 101
"""One of so many results is written where otherwise every record would have one; prime, so that all keys have some."""


@dataclass(frozen=True)
class Workload:
    """Something to compute, by all engines alike.

    ``package`` below ``benchmarks.workloads`` has a module for every engine that can: ``pyflink`` is the program,
    ``bare`` the same on plain Python, ``bytewax``, ``spark`` and so on are what a user of those would write. If the
    package has a function ``prepare(run)``, it writes the input files.
    """

    name: str
    package: str
    title: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One run of a workload: how many records, where its files are, what else is set."""

    package: str
    records: int
    directory: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def half(self) -> int:
        """How many records each of the two subtasks of a source has."""
        return self.records // 2

    @property
    def input(self) -> str:
        """The directory of input files."""
        return f"{self.directory}/input"

    @property
    def output(self) -> str:
        """The directory that results are written to, a line each."""
        return f"{self.directory}/output"

    def to_json(self) -> str:
        """Return the run as an argument of a runner."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Run:
        """Return the run that was handed to a runner."""
        return cls(**json.loads(text))


def line(values: tuple[Any, ...]) -> str:
    """Return a result the way PyFlink writes a typed tuple, with the end of the line."""
    return f"({','.join(map(str, values))})\n"


def written_lines(run: Run) -> list[str]:
    """Return what an engine wrote, sorted; files that are not finished have a leading dot."""
    files = [path for path in Path(run.output).rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]
    return sorted(text for path in files for text in path.read_text().splitlines())
