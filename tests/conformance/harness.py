"""Load the programs and their recorded results, and compare results, independently of PyFlink and flintstream."""

from __future__ import annotations

import difflib
import json
import re
import struct
import sys
from collections import defaultdict
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import cloudpickle
from tests.conformance import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.conformance.registry import FailingProgram, Mode, Ordering, Program

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
ERRORS = HERE / "errors"
GOLDENS = HERE / "goldens"

Form = Literal["text", "values"]
NOT_CONVERTIBLE = "not convertible"

FLOAT = re.compile(r"-?\d+(\.\d+(e[-+]?\d+)?|e[-+]?\d+)")
FIRST_FIELD = re.compile(r"""^(?:[-+][IUBAD])?[(\[{]*['"]?([^,=:)\]}'"]*)""")


@dataclass(frozen=True)
class Run:
    """One way to run a program."""

    mode: Mode
    parallelism: int

    def __str__(self) -> str:
        """Return the key of the run in a golden file."""
        return f"{self.mode}-{self.parallelism}"


def load_programs(broken: dict[str, ImportError] | None = None) -> dict[str, Program]:
    """Load all programs; ``pyflink`` must be importable.

    Args:
        broken: Gets the files with failing imports; without it, the first such file raises ImportError.
    """
    return _load(PROGRAMS, registry.take_programs, broken)


def load_failing(broken: dict[str, ImportError] | None = None) -> dict[str, FailingProgram]:
    """Load all programs that must fail; see :func:`load_programs`."""
    return _load(ERRORS, registry.take_failing, broken)


def _load(directory: Path, take: Callable[[], list[Any]], broken: dict[str, ImportError] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(directory.glob("*.py")):
        spec = spec_from_file_location(f"conformance_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {path}")
        module = sys.modules[spec.name] = module_from_spec(spec)
        # Like a user's script, a program is not in a module that a worker could import.
        cloudpickle.register_pickle_by_value(module)
        try:
            spec.loader.exec_module(module)
        except ImportError as error:
            if broken is None:
                raise
            broken[path.name] = error
        for item in take():
            if item.name in found:
                raise ValueError(f"two programs are called {item.name!r}; the second one is in {path.name}")
            found[item.name] = item
    return found


def runs_of(program: Program) -> list[Run]:
    """Return all ways to run a program."""
    return [Run(mode, parallelism) for mode in program.modes for parallelism in program.parallelism]


def golden_path(name: str) -> Path:
    """Return the path of the recorded results of a program."""
    return GOLDENS / f"{name}.json"


def load_golden(name: str, run: Run) -> list[dict[str, Any]]:
    """Return the results of real PyFlink: ``text`` and ``values`` of every output.

    Raises:
        LookupError: Nothing is recorded for this program and run.
    """
    path = golden_path(name)
    if not path.exists():
        raise LookupError(f"nothing is recorded for {name!r}: run `python -m tests.conformance.record {name}`")
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    if str(run) not in runs:
        raise LookupError(f"{path.name} has no {run}: run `python -m tests.conformance.record {name}`")
    outputs: list[dict[str, Any]] = runs[str(run)]["outputs"]
    return outputs


def key_of(text: str) -> str:
    """Return the first field of a record's text: the key in the ordering ``per_key``.

    >>> key_of("(a,1)"), key_of("('a', 1)"), key_of("+I[a, 1]"), key_of("a"), key_of("[3, 4]")
    ('a', 'a', 'a', 'a', '3')
    """
    match = FIRST_FIELD.match(text)
    return match.group(1) if match else text


def canonical(texts: Iterable[str], ordering: Ordering) -> list[str]:
    """Return ``texts`` in an order that is the same for all results that count as equal.

    >>> canonical(["b,2", "a,9", "b,1"], "per_key")
    ['a,9', 'b,2', 'b,1']
    >>> canonical(["b,2", "a,9", "b,1"], "multiset")
    ['a,9', 'b,1', 'b,2']
    """
    if ordering == "exact":
        return list(texts)
    if ordering == "multiset":
        return sorted(texts)
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        by_key[key_of(text)].append(text)
    return [text for key in sorted(by_key) for text in by_key[key]]


def difference(expected: Sequence[str], actual: Sequence[str], ordering: Ordering) -> str:
    """Return how ``actual`` differs from ``expected``, as a diff; empty if they count as equal.

    >>> difference(["1", "2"], ["2", "1"], "multiset")
    ''
    >>> print(difference(["a", "b"], ["a"], "exact"))
      a
    - b
    """
    wanted, got = canonical(expected, ordering), canonical(actual, ordering)
    if wanted == got:
        return ""
    return "\n".join(line for line in difflib.ndiff(wanted, got) if not line.startswith("?"))


def compare(program: Program, run: Run, actual: Sequence[Sequence[str]], form: Form = "text") -> None:
    """Compare the text, or the ``repr`` of the Python values, of every output with the recorded one.

    Raises:
        AssertionError: They differ.
        LookupError: Nothing is recorded.
    """
    golden = load_golden(program.name, run)
    if len(golden) != len(actual):
        raise AssertionError(f"{program.name} ({run}) has {len(actual)} outputs; PyFlink has {len(golden)}")
    ordering: Ordering = program.ordering if form == "text" or program.ordering == "exact" else "multiset"
    for position, (output, results) in enumerate(zip(golden, actual, strict=True)):
        expected, got = output[form], results
        if form == "values":
            if any(value.startswith(NOT_CONVERTIBLE) for value in expected):
                continue
            expected, got = [list(map(with_narrow_floats, values)) for values in (expected, got)]
        diff = difference(expected, got, ordering)
        if diff:
            raise AssertionError(
                f"{program.name} ({run}), output {position}, {form} compared as {ordering};"
                f" '-' is PyFlink, '+' is ours:\n{diff}"
            )


def with_narrow_floats(value: str) -> str:
    """Return a ``repr`` with all floats rounded to 32 bits: the recorder gets FLOAT values as shortest decimals.

    >>> with_narrow_floats("(1, 1.1)") == with_narrow_floats("(1, 1.100000023841858)")
    True
    """
    return FLOAT.sub(lambda match: repr(struct.unpack("f", struct.pack("f", float(match[0])))[0]), value)
