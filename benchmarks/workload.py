"""Workloads and their runs. This module imports only the standard library: the engines' environments import it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SPREAD = 2_654_435_761
"""Odd and not a multiple of 5: consecutive numbers times this, modulo a power of ten, visit all keys equally often."""
SAMPLE = 101
"""Write one of this many results if every record would have one; prime, so that all keys have some."""


@dataclass(frozen=True)
class Workload:
    """A computation that is the same on all engines.

    ``package`` below ``benchmarks.workloads`` has a module for every engine that supports it: ``pyflink`` is the
    program, ``bare`` the same in plain Python, and ``bytewax``, ``spark`` and so on are written the way users of those
    would. If the package has a function ``prepare(run)``, it writes the input files.
    """

    name: str
    package: str
    title: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One run of a workload: number of records, directory and settings."""

    package: str
    records: int
    directory: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def half(self) -> int:
        """The number of records of each of the two subtasks of a source."""
        return self.records // 2

    @property
    def input(self) -> str:
        """The directory of input files."""
        return f"{self.directory}/input"

    @property
    def output(self) -> str:
        """The directory of the results, one per line."""
        return f"{self.directory}/output"

    def to_json(self) -> str:
        """Return the run as an argument of a runner."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Run:
        """Return the run that a runner got as an argument."""
        return cls(**json.loads(text))


def line(values: tuple[Any, ...]) -> str:
    """Return a result in PyFlink's format of a typed tuple, with the end of the line."""
    return f"({','.join(map(str, values))})\n"


def written_lines(run: Run) -> list[str]:
    """Return the lines that an engine wrote, sorted; unfinished files have a leading dot."""
    files = [path for path in Path(run.output).rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]
    return sorted(text for path in files for text in path.read_text().splitlines())
