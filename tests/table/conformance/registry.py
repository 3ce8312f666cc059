"""The declarations of cases.

The module imports only the standard library, because both real PyFlink and flintstream load it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Mode = Literal["STREAMING", "BATCH"]
STREAMING: tuple[Mode, ...] = ("STREAMING",)
BATCH: tuple[Mode, ...] = ("BATCH",)
BOTH: tuple[Mode, ...] = ("STREAMING", "BATCH")
Order = Literal["exact", "multiset", "folded"]
F = TypeVar("F", bound="Callable[..., Any]")


@dataclass(frozen=True)
class Case:
    """What scalars, scripts and programs have in common.

    ``order``: rows come in this order (``exact``), in any order (``multiset``), or are changes in any order that leave
    the same rows behind (``folded``).
    """

    name: str
    level: int
    modes: tuple[Mode, ...] = STREAMING
    order: Order = "exact"
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scalars(Case):
    """Expressions over the rows of one source, which has a column ``id`` to sort by."""

    source: str = ""
    expressions: tuple[str, ...] = ()

    def query(self, expressions: Sequence[str]) -> str:
        """Return one query of some of the expressions."""
        columns = ", ".join(f"{expression} AS e{number}" for number, expression in enumerate(expressions))
        return f"SELECT id, {columns} FROM {self.source} AS t"


@dataclass(frozen=True)
class Script(Case):
    """Statements, one after the other in one environment."""

    statements: tuple[str, ...] = ()
    printed: bool = False


@dataclass(frozen=True)
class Program(Case):
    """A function of the environments of streams and tables."""

    function: Callable[..., Any] = print
    directory: bool = False


_cases: list[Case] = []


def table(columns: str, *rows: Sequence[str]) -> str:
    """Return a subquery: ``columns`` are ``name TYPE`` by semicolon, and each row has one SQL literal per column.

    The casts are outside of ``VALUES``, which is one source only if it has nothing but literals. A column ``id``
    counts the rows from 1.
    """
    declared = [column.strip().split(" ", 1) for column in columns.split(";")]
    names = ", ".join(["id", *(name for name, _ in declared)])
    casts = ", ".join(["id", *(f"CAST({name} AS {kind}) AS {name}" for name, kind in declared)])
    lines = [
        ", ".join(
            [
                str(number),
                *(
                    f"CAST(NULL AS {kind})" if value == "NULL" else value
                    for value, (_, kind) in zip(row, declared, strict=True)
                ),
            ]
        )
        for number, row in enumerate(rows, 1)
    ]
    return f"(SELECT {casts} FROM (VALUES {', '.join(f'({line})' for line in lines)}) AS v ({names}))"


def file_table(name: str, columns: str, more: str = "", *, file: str = "f", form: str = "csv") -> str:
    """Return the statement that declares a table of a file in the directory of the case."""
    path = f"'path' = '{{directory}}/{file}', 'format' = '{form}'{more}"
    return f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', {path});"


def lines(file: str, *texts: str) -> str:
    """Return the statements that write a file."""
    values = ", ".join(f"('{text}')" for text in texts)
    return f"\n{file_table(f'w{file}', 'line STRING', file=file, form='raw')}\nINSERT INTO w{file} VALUES {values};"


ONE_ROW = "(SELECT * FROM (VALUES (1)) AS v (id))"


def scalars(
    name: str,
    expressions: str,
    source: str = ONE_ROW,
    *,
    level: int = 1,
    modes: tuple[Mode, ...] = STREAMING,
    config: Mapping[str, str] | None = None,
) -> None:
    """Register expressions, one a line."""
    lines = tuple(line.strip() for line in expressions.splitlines() if line.strip())
    _cases.append(Scalars(name, level, modes, "exact", config or {}, source, lines))


def script(
    name: str,
    statements: str,
    *,
    level: int = 1,
    modes: tuple[Mode, ...] = STREAMING,
    order: Order = "exact",
    printed: bool = False,
    config: Mapping[str, str] | None = None,
) -> None:
    """Register statements, each of which ends with a semicolon at the end of a line.

    Args:
        name: The name of the case.
        statements: The statements; ``{directory}`` in them becomes the path of an empty directory.
        level: 1: bridge, 2: event time, 3: changelogs.
        modes: The runtime modes to run in.
        order: See :class:`Case`.
        printed: Whether what ``print()`` writes is compared, instead of the rows.
        config: Further options of the environment.
    """
    parts = tuple(part.strip() for part in f"{statements.strip()}\n".split(";\n") if part.strip())
    _cases.append(Script(name, level, modes, order, config or {}, parts, printed))


def program(
    level: int = 1,
    *,
    modes: tuple[Mode, ...] = STREAMING,
    order: Order = "exact",
    directory: bool = False,
    config: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Register a function ``(env, t_env)``, or with ``directory``, ``(env, t_env, path)``.

    It returns a table, a stream, a result of a statement, any value, or a list of these.
    """

    def register(function: F) -> F:
        _cases.append(
            Program(function.__name__, level, modes, order, config or {}, function=function, directory=directory)
        )
        return function

    return register


def take_cases() -> list[Case]:
    """Return what has been registered since the last call."""
    taken = _cases[:]
    _cases.clear()
    return taken
