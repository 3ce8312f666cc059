"""What expressions of MATCH_RECOGNIZE read: columns of rows of a variable, and aggregates of all its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._analyzer.over import FULL_NAMES, own_call
from flintstream.table._errors import SqlError, TableNotFoundError, at, unsupported
from flintstream.table._expressions.aggregates import AggregateCall, result_type
from flintstream.table._expressions.aggregation.code import aggregation
from flintstream.table._expressions.expr import Column, Ref
from flintstream.table._expressions.resolver import resolve
from flintstream.table._expressions.scope import HIDDEN
from flintstream.table._operators.matching.expressions import MOMENT, Read, Totals
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._operators.matching.expressions import Value
    from flintstream.table._operators.matching.pattern import Variable

_AROUND = "compute it in the query around MATCH_RECOGNIZE, or before it"
_NOT_THERE = {"PREV": "write LAST(A.x, 1)", "NEXT": "write a variable for that row", "CLASSIFIER": _AROUND}
_NOT_THERE |= {"MATCH_NUMBER": _AROUND, "RUNNING": "omit it"}
_NAVIGATION = frozenset({"FIRST", "LAST"})
_OTHERS = frozenset({"PERCENTILE", "JSON_ARRAYAGG", "JSON_OBJECTAGG"})


class MatchedRows:
    """The rows of the input, and the variables that they may belong to."""

    def __init__(self, scope: Scope, pattern: Sequence[Variable], defined: Sequence[str], time: int) -> None:
        """Take the columns, the variables, also those that only DEFINE has, and the position of the time attribute."""
        self.scope, self.pattern, self.time = scope, tuple(pattern), time
        self.numbers = {variable.name: number for number, variable in enumerate(pattern)}
        """Those of variables with rows are their places in the pattern."""
        for name in defined:
            self.add_without_rows(name)
        self.extra: list[Expr] = []
        """What aggregates read beside the columns."""

    def add_without_rows(self, name: str) -> None:
        """Let a name stand for a variable that has no rows, unless it has some."""
        # Measures take the number behind the pattern for the row that completes the match.
        self.numbers.setdefault(name, len(self.numbers) + 1)

    def column(self, name: s.Name) -> tuple[int | None, int, tuple[str, ...]]:
        """Return the variable of a name (None for all rows), the position of the column, and fields within it.

        Raises:
            TableNotFoundError: The pattern lacks the variable.
            ColumnNotFoundError: The table lacks the column.
        """
        first, *rest = name.parts
        if rest and first in self.numbers:
            return (self.numbers[first], *self.scope.find(s.Name(name.place, tuple(rest))))
        if rest and all(column.name != first for column in self.scope.columns):
            raise TableNotFoundError((first,), name.place, self.numbers)
        return (None, *self.scope.find(name))

    def position(self, expression: Expr) -> int:
        """Return at which position rows have the value of an expression."""
        if isinstance(expression, Ref):
            return expression.index
        self.extra.append(expression)
        return len(self.scope.columns) + len(self.extra) - 1


class MatchValues:
    """The values that the expressions of one place read: the condition of a variable, or all measures."""

    def __init__(self, rows: MatchedRows, test: int | None = None) -> None:
        """Take the rows, and the variable whose condition it is; None for measures."""
        self.rows, self.test = rows, test
        self.last = len(rows.pattern) if test is None else test
        """The variable whose rows go up to the end; for measures, one after the last of the pattern."""
        self._columns: list[Column] = []
        self._values: list[Value] = []
        self._names: dict[tuple[Value, str], str] = {}
        self._calls: dict[int | None, list[AggregateCall]] = {}

    def rewrite(self, syntax: s.Syntax) -> s.Syntax:
        """Return an expression with names of values in place of what it reads of a match.

        Raises:
            SqlError: It reads what a match does not have.
        """
        return self._rewrite(syntax, offset=0, first=False)

    def share_column(self, index: int) -> s.Name:
        """Return the name of a column that is the same in all rows."""
        return self._read(Read(None, index), None)

    def scope_and_values(self) -> tuple[Scope, tuple[Value, ...]]:
        """Return the scope of the rewritten expressions, and what its columns stand for."""
        columns, values = list(self._columns), list(self._values)
        for variable, calls in self._calls.items():
            columns += [Column(_total(variable, number), call.type) for number, call in enumerate(calls)]
            values.append(Totals(variable, aggregation(calls, retracts=False)))
        return self.rows.scope.of(tuple(columns), ()), tuple(values)

    def _rewrite(self, syntax: s.Syntax, *, offset: int, first: bool) -> s.Syntax:
        if isinstance(syntax, s.Name):
            variable, index, fields = self.rows.column(syntax)
            if fields:  # an error about them has the name as it is written
                resolve(self._without_variable(syntax), self.rows.scope)
            read = self._read(Read(variable, index, offset, first), syntax.place)
            return s.Name(syntax.place, (*read.parts, *fields))
        if isinstance(syntax, s.Aggregate):
            return self._aggregate(syntax)
        if isinstance(syntax, (s.Over, s.Subquery)):
            clause = "OVER" if isinstance(syntax, s.Over) else syntax.clause
            raise unsupported(f"{clause} in MATCH_RECOGNIZE", syntax.place, _AROUND)
        if isinstance(syntax, s.Apply):
            name = syntax.function.upper()
            if name in _NAVIGATION:
                return self._navigate(syntax, name)
            if name == "MATCH_ROWTIME":
                return self._rowtime(syntax)
            if name == "MATCH_PROCTIME":
                return replace(syntax, function="PROCTIME")
            if name in _NOT_THERE:
                raise unsupported(f"{name} in MATCH_RECOGNIZE", syntax.place, _NOT_THERE[name])
        return s.map_syntax(syntax, lambda part: self._rewrite(part, offset=offset, first=first))

    # -- single rows -----------------------------------------------------------------------------------------------

    def _navigate(self, syntax: s.Apply, name: str) -> s.Syntax:
        """Return the value that FIRST or LAST reads."""
        place = syntax.place
        value, offset = _navigation(syntax, name)
        parts = list(_all_parts(value))
        if any(isinstance(part, s.Aggregate) or _is_navigation(part) for part in parts):
            raise SqlError(f"{name}{at(place)} reads one row: FIRST, LAST and aggregates cannot be within it")
        if len({self.rows.column(part)[0] for part in parts if isinstance(part, s.Name)}) > 1:
            raise SqlError(f"{name}{at(place)} reads a row of one variable, but names several")
        return self._rewrite(value, offset=offset, first=name == "FIRST")

    def _rowtime(self, syntax: s.Apply) -> s.Syntax:
        """Return the time at which a match is complete, or in a condition that of the row."""
        rows, place = self.rows, syntax.place
        columns = rows.scope.columns
        kind: DataType = t.TimestampType(3, False)
        if syntax.arguments:
            (given, *more) = syntax.arguments
            index = rows.column(given)[1] if isinstance(given, s.Name) and not more else -1
            if index < 0 or columns[index].time != "ROWTIME":
                raise SqlError(f"MATCH_ROWTIME(){at(place)} takes a rowtime column, or no argument")
            kind = columns[index].type
        if self.test is None:
            return self._name(MOMENT, kind, "ROWTIME", place)
        return self._name(Read(None, rows.time), kind, "", place)

    def _read(self, read: Read, place: Place | None) -> s.Name:
        column = self.rows.scope.columns[read.column]
        kind = column.type.nullable() if self._may_lack(read) else column.type
        return self._name(read, kind, column.time, place)

    def _may_lack(self, read: Read) -> bool:
        """Return whether there may be no such row."""
        number, pattern = read.variable, self.rows.pattern
        if read.offset or number is None:
            return read.offset > 0
        return number > min(self.last, len(pattern) - 1) or (number != self.test and pattern[number].is_optional)

    def _name(self, value: Value, kind: DataType, time: str, place: Place | None) -> s.Name:
        key = (value, sql_name(kind))
        if key not in self._names:
            self._names[key] = f"{HIDDEN}v{len(self._values)}"
            self._values.append(value)
            self._columns.append(Column(self._names[key], kind, time))
        return s.Name(place, (self._names[key],))

    # -- aggregates ------------------------------------------------------------------------------------------------

    def _aggregate(self, syntax: s.Aggregate) -> s.Name:
        place = syntax.place
        label = syntax.function if isinstance(syntax.function, str) else syntax.function.name
        if syntax.distinct or syntax.condition is not None:
            clause = "DISTINCT" if syntax.distinct else "FILTER"
            raise unsupported(
                f"{label} with {clause} in MATCH_RECOGNIZE", place, "filter the rows in a preceding query"
            )
        names = [part for part in _all_parts(syntax) if isinstance(part, s.Name)]
        variables = {self.rows.column(name)[0] for name in names}
        if len(variables) > 1:
            raise SqlError(f"{label}{at(place)} aggregates the rows of one variable, but names several")
        variable = variables.pop() if variables else None
        call = self._call(s.map_syntax(syntax, self._without_variable), label)
        calls = self._calls.setdefault(variable, [])
        calls.append(call)
        return s.Name(place, (_total(variable, len(calls) - 1),))

    def _without_variable(self, syntax: s.Syntax) -> s.Syntax:
        """Return an expression on a row that may belong to a variable."""
        if isinstance(syntax, s.Name):
            return s.Name(syntax.place, syntax.parts if self.rows.column(syntax)[0] is None else syntax.parts[1:])
        if isinstance(syntax, s.Apply) and _is_navigation(syntax):
            value, offset = _navigation(syntax, syntax.function.upper())
            if offset:
                raise SqlError(f"{syntax.function}{at(syntax.place)} cannot be within an aggregate")
            return self._without_variable(value)
        if isinstance(syntax, (s.Aggregate, s.Over, s.Subquery)):
            raise SqlError(f"an aggregate{at(syntax.place)} within another one: aggregate in a preceding query")
        return s.map_syntax(syntax, self._without_variable)

    def _call(self, syntax: s.Aggregate, label: str) -> AggregateCall:
        rows, place = self.rows, syntax.place
        if not isinstance(syntax.function, str):
            return own_call(syntax, rows.scope, rows.scope.zone, rows.position)
        name = FULL_NAMES.get(syntax.function, syntax.function)
        if name in _OTHERS:
            raise unsupported(f"{label} in MATCH_RECOGNIZE", place, "use ARRAY_AGG, and compute it of its result")
        argument = None if syntax.argument is None else resolve(syntax.argument, rows.scope)
        kind: DataType = t.BigIntType(False) if argument is None else argument.type
        returned = result_type(name, kind, place, grouped=False)
        position = None if argument is None else rows.position(argument)
        return AggregateCall(name, position, kind, returned, option=syntax.option)


def _total(variable: int | None, number: int) -> str:
    return f"{HIDDEN}t{variable}_{number}"


def _is_navigation(syntax: s.Syntax) -> bool:
    return isinstance(syntax, s.Apply) and syntax.function.upper() in _NAVIGATION


def _navigation(syntax: s.Apply, name: str) -> tuple[s.Syntax, int]:
    """Return what FIRST or LAST reads, and the number of rows between."""
    if len(syntax.arguments) not in {1, 2}:
        raise SqlError(f"{name}{at(syntax.place)} takes one or two arguments, but got {len(syntax.arguments)}")
    value, *more = syntax.arguments
    if not more:
        return value, 0
    offset = more[0].value if isinstance(more[0], s.Value) else None
    if not isinstance(offset, int) or offset < 0:
        raise SqlError(f"{name}{at(syntax.place)} needs a number of rows as a literal of at least 0: {name}(A.x, 1)")
    return value, offset


def _all_parts(syntax: s.Syntax) -> Iterator[s.Syntax]:
    """Yield an expression and all within it."""
    yield syntax
    for part in s.parts(syntax):
        yield from _all_parts(part)
