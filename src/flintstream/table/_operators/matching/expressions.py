"""Expressions on the rows of a match: values of single rows of a variable, and aggregates of all its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from flintstream.table._deep_stack import deep
from flintstream.table._expressions.codegen import Generator, Source, compile_source
from flintstream.table._operators.opening import close_all, open_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.table._expressions.aggregation.code import Aggregation
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._operators.matching.matcher import Starts
    from flintstream.table._operators.matching.matcher import Totals as Known
    from flintstream.table._operators.rows import Row

    Compiled: TypeAlias = Callable[[Sequence[Row], Starts, int, int, Known], Row]

MOMENT = "from_millis(t)"
"""The code of a value: the time of the event that completes a match."""


@dataclass(frozen=True)
class Read:
    """A column of a row of a variable; None if the variable has too few rows."""

    variable: int | None
    """None means all rows of the match."""
    column: int
    offset: int = 0
    """How many rows before the last one, or after the first."""
    first: bool = False


@dataclass(frozen=True)
class Totals:
    """Aggregates of the rows of a variable, or of all."""

    variable: int | None
    aggregation: Aggregation


Value: TypeAlias = Read | Totals | str
"""What expressions read: a column, the results of aggregates, or code."""


class MatchFunction:
    """Expressions compiled into one function of the rows of a match, in the task that opens it.

    It gets rows, the starts of the variables up to ``last``, the position after the last row, a time in ms, and the
    aggregates of earlier calls, which it continues.

    >>> from flintstream.common._types.data_types import DataTypes
    >>> from flintstream.table._expressions.expr import Ref
    >>> values = [Read(0, 0), Read(None, 0, first=True), Read(1, 0, offset=1)]
    >>> function = MatchFunction([Ref(DataTypes.INT(), i) for i in range(3)], values, last=1)
    >>> function.code()([(1,), (2,), (3,), (4,)], (0, 2), 4, 0, {})
    (2, 1, 3)
    """

    def __init__(self, expressions: Sequence[Expr], values: Sequence[Value], last: int) -> None:
        """Take the expressions, whose columns are the values in order."""
        self._aggregations = [value.aggregation for value in values if isinstance(value, Totals)]
        self._source = _source(expressions, values, last)
        self._run: Compiled | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled code."""
        return {**self.__dict__, "_run": None}

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the functions of the program."""
        open_all(self._source.functions, runtime_context)
        for aggregation in self._aggregations:
            aggregation.open(runtime_context)

    def close(self) -> None:
        """Close them."""
        close_all(self._source.functions)
        for aggregation in self._aggregations:
            aggregation.close()

    def code(self) -> Compiled:
        """Return the compiled function."""
        if self._run is None:
            names = {**self._source.names, "continue_totals": continue_totals}
            for number, aggregation in enumerate(self._aggregations):
                made = aggregation.compile_code()
                names |= {f"{part}_{number}": made[part] for part in ("start", "add", "result")}
            self._run = compile_source(replace(self._source, names=names))
        return self._run


def continue_totals(
    known: Known,
    place: str,
    rows: Sequence[Row],
    begin: int,
    end: int,
    start: Callable[[], object],
    add: Callable[[Row, object], object],
) -> object:
    """Return the accumulators of a range of rows, from those of a part of it if they are known."""
    first, at, accumulators = known.get(place, (-1, 0, None))
    if first != begin or at > end:
        at, accumulators = begin, start()
    for row in rows[at:end]:
        add(row, accumulators)
    known[place] = begin, end, accumulators
    return accumulators


def range_of(variable: int | None, last: int) -> tuple[str, str]:
    """Return the code of the positions of a variable's first row and of the one after its last.

    >>> range_of(0, 1), range_of(1, 1), range_of(None, 1)
    (('s[0]', 's[1]'), ('s[1]', 'n'), ('s[0]', 'n'))
    """
    if variable is None:
        return "s[0]", "n"
    if variable > last:
        return "n", "n"  # no rows
    return f"s[{variable}]", "n" if variable == last else f"s[{variable + 1}]"


def _read(read: Read, last: int) -> str:
    begin, end = range_of(read.variable, last)
    if read.variable in {None, last} and not read.offset:  # there is the row itself
        return f"rows[{begin if read.first else 'n - 1'}][{read.column}]"
    if read.first:
        place = f"{begin} + {read.offset}" if read.offset else begin
        return f"(rows[{place}][{read.column}] if {place} < {end} else None)"
    place = f"{end} - {read.offset + 1}"
    return f"(rows[{place}][{read.column}] if {place} >= {begin} else None)"


@deep
def _source(expressions: Sequence[Expr], values: Sequence[Value], last: int) -> Source:
    lines: list[str] = []
    listed: list[str] = []
    totals = 0
    for value in values:
        if isinstance(value, Read):
            listed.append(f"{_read(value, last)}, ")
        elif isinstance(value, Totals):
            begin, end = range_of(value.variable, last)
            given = f"m, '{last}_{totals}', rows, {begin}, {end}, start_{totals}, add_{totals}"
            lines.append(f"    a{totals} = continue_totals({given})")
            listed.append(f"*result_{totals}(a{totals}), ")
            totals += 1
        else:
            listed.append(f"{value}, ")
    generator = Generator(depth=1)
    generator.load(expressions)
    results = [generator.value(expression) for expression in expressions]
    parts = [
        *generator.parts,
        "def run(rows, s, n, t, m):",
        *lines,
        f"    r = ({''.join(listed)})",
        *generator.lines,
        f"    return ({''.join(f'{result}, ' for result in results)})",
    ]
    return Source("\n".join(parts), generator.names, tuple(generator.functions))
