"""The list of programs: the requirements and results of each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

LIST = Path(__file__).parent / "programs.json"


@dataclass
class Program:
    """A public program, the recipe for its input, and the verdicts."""

    repository: str
    commit: str
    file: str
    needs: list[str] = field(default_factory=list)
    """The parts that the recipe provides: kafka, files, jdbc, args, aws, elasticsearch."""

    args: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    """Entries of the configuration, ``key=value``, that the author's cluster sets, such as that of checkpoints."""

    env: dict[str, str] = field(default_factory=dict)
    directory: str | None = None
    """The working directory in the repository; None for the directory of the program's file."""

    path: list[str] = field(default_factory=list)
    """Directories of the repository for ``PYTHONPATH``."""

    files: dict[str, Any] = field(default_factory=dict)
    """Files to create, relative to the directory, in the format of :func:`tests.corpus.recipes.contents`."""

    topics: dict[str, Any] = field(default_factory=dict)
    """Topics and their messages, in the format of :func:`tests.corpus.recipes.messages`."""

    streams: dict[str, Any] = field(default_factory=dict)
    """Streams of Kinesis, as ``name@region``, and their records, in the format of topics."""

    sql: str = ""
    """Tables that the program expects in the database."""

    shows: str = ""
    """A pattern that the output must match; an empty one matches any output."""

    written: list[str] = field(default_factory=list)
    """Topics, ``table:``, ``stream:name@region``, ``firehose:name@region``, ``bucket:name`` or ``bucket:name/pattern``,
    ``index:`` and a name, or patterns of files, to which the program must write."""

    bounded: bool = True
    seconds: int = 180
    """Time limit; for an unbounded program, the limit until all of its output exists."""

    compare: bool = True
    """Whether the output is the same in each run, so that PyFlink's can be compared."""

    counted: str = "yes"
    """``yes``; ``table`` if it has tables; ``older`` if PyFlink 2.3.0 lacks what it uses; or a key of ``page.APART``
    if it is listed separately."""

    mixes: bool = False
    """Whether streams become tables or tables become streams."""

    before: str = ""
    first: str = ""
    """The verdict of the first run, of programs that were added when all others ran, before anything was fixed;
    ``apart`` if it is listed separately."""

    after: str = ""
    pyflink: str = ""
    """Verdicts: ``runs``, ``fails``, ``differs``, or empty if it was not run."""

    output: str = ""
    """A digest of real PyFlink's output, in alphabetical order."""

    error: str = ""
    """The error of the last failed run."""

    checked: str = ""
    """The verdict of ``flintstream check``: ``error``, ``note``, ``fine``, or empty if it was not checked."""

    reason: str = ""
    """The reason why the program is listed separately or as older, or fails."""

    @property
    def name(self) -> str:
        """The name on the command line."""
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
    """Write the list, without fields that have their default."""
    empty = asdict(Program("", "", ""))
    kept = [
        {f.name: value for f in fields(program) if (value := getattr(program, f.name)) != empty[f.name]}
        for program in sorted(programs, key=lambda program: (program.repository.lower(), program.file))
    ]
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
