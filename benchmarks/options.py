"""Common parts of the commands that compare engines: options, and the engines' environments."""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.engines import BENCHMARKS, ENGINES, REQUIREMENTS, python_of
from benchmarks.measure import Limits, Outcome
from benchmarks.report import Record, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


def parser_of(name: str, description: str | None, engines: Collection[str]) -> argparse.ArgumentParser:
    """Return a parser of the common options; ``engines`` are measured by default."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {name}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engines", default=",".join(engines), help="comma-separated (default: %(default)s)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=float, default=5.0, help="least duration of a run (%(default)s)")
    length.add_argument("--records", type=int, help="the same number for all engines, whatever the duration")
    parser.add_argument("--repeat", type=int, default=1, help="repetitions of the longest run; the median counts")
    parser.add_argument(
        "--timeout", type=float, default=300.0, help="greatest duration of a run in seconds (%(default)s)"
    )
    parser.add_argument(
        "--save", metavar="NAME", help="write benchmarks/results/NAME.json and NAME.md, or continue them"
    )
    parser.add_argument(
        "--venvs",
        type=Path,
        default=Path("build/benchmark-venvs"),
        help="directory of the virtual environments (%(default)s)",
    )
    for environment, packages in REQUIREMENTS.items():
        variable = f"BENCHMARK_{environment.upper()}_PYTHON"
        parser.add_argument(
            f"--{environment}-python", default=os.environ.get(variable), help=f"an interpreter that has {packages[0]}"
        )
    return parser


def check(parser: argparse.ArgumentParser, options: argparse.Namespace, engines: Collection[str]) -> list[str]:
    """Return the requested engines; end the program if one is not in ``engines``, or if --records is invalid."""
    asked: list[str] = options.engines.split(",")
    refuse_unknown(parser, "engines", asked, engines)
    if options.records is not None and (options.records < 10_000 or options.records % 20):
        parser.error("--records must be a multiple of 20 and at least 10000")
    return asked


def refuse_unknown(parser: argparse.ArgumentParser, kind: str, names: list[str], known: Collection[str]) -> None:
    """End the program if a name is unknown."""
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"unknown {kind}: {', '.join(unknown)}; choose from {', '.join(known)}")


class Series:
    """The measurements of one command."""

    def __init__(self, options: argparse.Namespace, engines: list[str]) -> None:
        given = {name: getattr(options, f"{name}_python") for name in REQUIREMENTS}
        self.limits = Limits(options.seconds, options.timeout, options.records, options.repeat)
        self._pythons: dict[str, str] = {}
        self._problems: dict[str, str] = {}
        for name in engines:
            try:
                self._pythons[name] = python_of(ENGINES[name], given, options.venvs)
            except (OSError, subprocess.CalledProcessError) as error:
                self._problems[name] = f"no environment: {error}"
        path = BENCHMARKS / "results" / f"{options.save}.json" if options.save else None
        self._record = Record(path, self._pythons)

    def add(self, name: str, engine: str, measured: Callable[[str], Outcome]) -> None:
        """Call a function that measures with the engine's interpreter, and keep the outcome."""
        problem = self._problems.get(engine)
        outcome = Outcome(name, engine, problem=problem) if problem else measured(self._pythons[engine])
        progress(outcome)
        self._record.add(outcome)

    def print(self) -> None:
        """Print the tables."""
        print(self._record.table(), end="")
