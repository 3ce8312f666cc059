"""The list of programs: what each one needs, and what became of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

LIST = Path(__file__).parent / "programs.json"


@dataclass
class Program:
    """A public program, the recipe for what it reads, and the verdicts."""

    repository: str
    commit: str
    file: str
    needs: list[str] = field(default_factory=list)
    """Of kafka, files, jdbc, args: what the recipe provides."""

    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    directory: str | None = None
    """Where in the repository the program starts; where its file is if this is None."""

    path: list[str] = field(default_factory=list)
    """Directories of the repository for ``PYTHONPATH``."""

    files: dict[str, Any] = field(default_factory=dict)
    """Files to make, relative to the directory, as :func:`tests.corpus.recipes.text` reads them."""

    topics: dict[str, Any] = field(default_factory=dict)
    """Topics and their messages, as :func:`tests.corpus.recipes.messages` reads them."""

    sql: str = ""
    """Tables that the program expects in the database."""

    shows: str = ""
    """A pattern that the output has to match; any output does if it is empty."""

    written: list[str] = field(default_factory=list)
    """Topics, or patterns of files, in which the program must have written something."""

    bounded: bool = True
    seconds: int = 180
    """How long it may take; how long an unbounded one may take until all of its output is there."""

    compare: bool = True
    """Whether the output is the same in each run, so that PyFlink's can be compared."""

    counted: str = "yes"
    """``yes``, ``older`` if PyFlink 2.3.0 lacks what it uses, or why it is counted apart: as ``page.APART`` has it."""

    before: str = ""
    after: str = ""
    pyflink: str = ""
    """Verdicts: ``runs``, ``fails``, ``differs``, or empty where it was not run."""

    output: str = ""
    """A digest of what real PyFlink printed, in the order of the alphabet."""

    error: str = ""
    """What the last run without success said."""

    reason: str = ""
    """Why the program is counted apart or as older, or fails."""

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return f"{self.repository}:{self.file}"

    @property
    def author(self) -> str:
        return self.repository.partition("/")[0]

    def checkout(self, folder: Path) -> Path:
        """Return the directory of the repository in a folder of checkouts."""
        return folder / self.repository.replace("/", "+")


def read(path: Path = LIST) -> list[Program]:
    """Return the programs of the list."""
    return [Program(**entry) for entry in json.loads(path.read_text("utf-8"))]


def write(programs: list[Program], path: Path = LIST) -> None:
    """Write the list, without what has its default."""
    empty = asdict(Program("", "", ""))
    kept = [
        {f.name: value for f in fields(program) if (value := getattr(program, f.name)) != empty[f.name]}
        for program in sorted(programs, key=lambda program: (program.repository.lower(), program.file))
    ]
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
