"""Projections with pandas functions, which take the rows of a table in batches, as many as PyFlink puts into one."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from flintstream.common._types.data_types import DataTypes
from flintstream.runtime.operators.functions import FunctionOperator
from flintstream.table._deep_stack import deep
from flintstream.table._expressions.codegen import compile_source, source
from flintstream.table._expressions.expr import Call, Column, Const, Invocation, Ref
from flintstream.table._expressions.python_values import converter_of
from flintstream.table._functions import series
from flintstream.table._functions.kinds import PandasRows
from flintstream.table._logical.nodes import Calc, Node
from flintstream.table._operators.generated import Functions
from flintstream.table._plan.build import widen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.protocol import NodeReport
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._functions.series import Data
    from flintstream.table._operators.rows import Row


@dataclass(frozen=True)
class Batched(Node):
    """Adds a column to a table for each call of a pandas function."""

    input: Node
    calls: tuple[BatchCall, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)


def in_batches(node: Calc) -> Calc:
    """Return a projection whose pandas functions are columns of its input; the same one if it calls none.

    A filter comes before the functions that compute columns, as in Flink.
    """
    condition = [] if node.condition is None else [node.condition]
    if not any(map(_calls_pandas, chain(node.projection or (), condition))):
        return node
    below = node.input
    if condition:
        below, (filtered,) = _compute(below, condition)
        below = Calc(below.columns, below, None, filtered)
    if node.projection is None:
        refs = tuple(Ref(column.type, i) for i, column in enumerate(node.columns))
        return Calc(node.columns, below, refs)
    below, projection = _compute(below, node.projection)
    return Calc(node.columns, below, tuple(projection))


def _pandas(expression: Expr) -> PandasRows | None:
    """Return the pandas function that an expression calls itself."""
    if not isinstance(expression, Invocation) or expression.function is None:
        return None
    found = expression.function.implementation
    return found if isinstance(found, PandasRows) else None


def _calls_pandas(expression: Expr) -> bool:
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if _pandas(part) is not None:
            return True
        waiting += _arguments(part)
    return False


@deep
def _compute(node: Node, expressions: Sequence[Expr]) -> tuple[Node, list[Expr]]:
    """Return a table with the results of all pandas functions, and the expressions that read these."""
    found = list(expressions)
    while any(map(_calls_pandas, found)):
        step = _Step(node)
        found = [step.columns_for(item) for item in found]
        node = step.node()
    return node, found


class _Step:
    """One step of a plan: the calls that need no other step before."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._more: list[Expr] = []
        """Arguments that are neither columns nor literals."""
        self._calls: list[Expr] = []
        self._made: list[BatchCall] = []

    def node(self) -> Node:
        """Return the table with the results."""
        own = self._node.columns
        below = widen(self._node, self._more, "f") if self._more else self._node
        results = tuple(Column(f"$batch{i}", call.type) for i, call in enumerate(self._calls))
        return Batched((*own, *results), below, tuple(self._made))

    def columns_for(self, expression: Expr) -> Expr:
        """Return an expression with columns for the calls of this step."""
        function = _pandas(expression)
        if function is not None and _is_ready(expression):
            if expression not in self._calls:
                self._calls.append(expression)
                self._made.append(self._call(function, expression))
            return Ref(expression.type, len(self._node.columns) + self._calls.index(expression))
        if not isinstance(expression, Call):
            return expression
        return replace(expression, arguments=tuple(map(self.columns_for, expression.arguments)))

    def _call(self, function: PandasRows, expression: Expr) -> BatchCall:
        return BatchCall(function, tuple(map(self._argument, _arguments(expression))), expression.type)

    def _argument(self, argument: Expr) -> BatchCall | Const | Ref:
        function = _pandas(argument)
        if function is not None:
            return self._call(function, argument)
        if isinstance(argument, (Const, Ref)):
            return argument
        if _is_literal(argument):
            rows: list[tuple[object, ...]] = []
            compile_source(source([argument], None, stamped=False))([()], rows.append)
            return Const(argument.type, rows[0][0])
        if argument not in self._more:
            self._more.append(argument)
        return Ref(argument.type, len(self._node.columns) + self._more.index(argument))


def _is_ready(expression: Expr) -> bool:
    if _pandas(expression) is not None:
        return all(map(_is_ready, _arguments(expression)))
    return not _calls_pandas(expression)


def _arguments(expression: Expr) -> tuple[Expr, ...]:
    return expression.arguments if isinstance(expression, Call) else ()


def _is_literal(expression: Expr) -> bool:
    """Return whether Flink makes a literal of an expression: operators and casts of literals."""
    if not isinstance(expression, Call):
        return isinstance(expression, Const)
    return (expression.name == "CAST" or not expression.name[:1].isalpha()) and all(
        map(_is_literal, expression.arguments)
    )


@dataclass(frozen=True)
class BatchCall:
    """A call of a pandas function; the results of calls among the arguments are passed on as they are."""

    function: PandasRows
    arguments: tuple[BatchCall | Const | Ref, ...]
    type: DataType

    def calls(self) -> Iterator[BatchCall]:
        """Yield the call and those within it."""
        yield self
        for argument in self.arguments:
            if isinstance(argument, BatchCall):
                yield from argument.calls()


class BatchOperator(FunctionOperator):
    """Adds the results of pandas functions to rows.

    Rows wait until they fill a batch or end a bundle, but never longer than the next watermark, the end of the epoch
    or the time of a bundle: nothing overtakes them, and a checkpoint finds none waiting.
    """

    can_be_cut = False

    def __init__(
        self,
        calls: Sequence[BatchCall],
        columns: Sequence[Column],
        width: int,
        batch: int,
        bundle: int,
        bundle_ms: int,
    ) -> None:
        """Take the calls, the columns of the input, and how many of these go on.

        Args:
            calls: One for each further column.
            columns: The columns of the input.
            width: The number of columns that are passed on.
            batch: The most rows in a batch.
            bundle: The most rows in a bundle.
            bundle_ms: The longest time that rows wait.
        """
        functions = dict.fromkeys(part.function for call in calls for part in call.calls())
        super().__init__(Functions(functions))
        self._calls = tuple(calls)
        self._columns = tuple(columns)
        self._width = width
        self._batch, self._bundle, self._bundle_ms = batch, bundle, bundle_ms
        self._rows: list[Row] = []
        self._stamps: list[int] | None = None
        self._due = 0
        """When the rows have waited long enough (ms since the epoch)."""
        self._in_bundle = 0
        """How many rows of this bundle have been processed."""

    def open(self) -> None:
        """Open the functions, and import pandas: the first batch would end an epoch as one of a slow function."""
        series.from_pandas(series.to_pandas([1], DataTypes.INT(), None, "UTC"), DataTypes.INT(), "UTC")
        super().open()

    def process(self, values: list[Row], timestamps: list[int] | None) -> None:
        """Keep the rows of a block, and process full batches."""
        if self._rows and (timestamps is None) != (self._stamps is None):
            self._finish()
        if not self._rows:
            self._due = int(time.time() * 1000) + self._bundle_ms
            self._stamps = None if timestamps is None else []
        self._rows += values
        if self._stamps is not None:
            self._stamps += timestamps or ()
        while len(self._rows) >= self._room():
            self._process(self._room())

    def process_watermark(self, timestamp: int) -> None:
        """Process the rows before the watermark, then forward it."""
        self._finish()
        super().process_watermark(timestamp)

    def process_idle(self, idle: bool) -> None:
        """Process the rows before the change, then forward it."""
        self._finish()
        super().process_idle(idle)

    def on_processing_time(self, now: int) -> None:
        """Process rows that have waited long enough."""
        if self._rows and now >= self._due:
            self._finish()

    def next_processing_time(self) -> int | None:
        """Return when rows have waited long enough."""
        return self._due if self._rows else None

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Process all rows: snapshots contain none."""
        self._finish()
        return super().end_epoch(epoch)

    def _room(self) -> int:
        """Return how many rows the next batch may have."""
        return min(self._batch, self._bundle - self._in_bundle)

    def _finish(self) -> None:
        """Process all rows, and end the bundle."""
        while self._rows:
            self._process(self._room())
        self._in_bundle = 0

    def _process(self, count: int) -> None:
        rows, self._rows = self._rows[:count], self._rows[count:]
        stamps = self._stamps
        if stamps is not None:
            stamps, self._stamps = stamps[:count], stamps[count:]
        self._in_bundle = (self._in_bundle + len(rows)) % self._bundle
        try:
            results = self._results(rows)
        except BaseException as error:
            raise self.failure(error, []) from error
        self.output.emit(results, stamps)

    def _results(self, rows: list[Row]) -> list[Row]:
        known: dict[tuple[type, int], Data] = {}
        found = [self._convert(call, self._result(call, rows, known)) for call in self._calls]
        own, total = self._width, len(self._columns)
        return [(*row[:own], *more, *row[total:]) for row, more in zip(rows, zip(*found, strict=True), strict=True)]

    def _convert(self, call: BatchCall, found: Data) -> list[object]:
        values = call.function.values(found)
        convert = converter_of(call.type)
        return values if convert is None else [None if value is None else convert(value) for value in values]

    def _result(self, call: BatchCall, rows: list[Row], known: dict[tuple[type, int], Data]) -> Data:
        """Return what a call returns for a batch."""
        function = call.function
        if function.names and isinstance(call.arguments[0], Ref):
            index = call.arguments[0].index
            return function.call([function.frame(row[index] for row in rows)], len(rows))
        return function.call([self._value(part, function, rows, known) for part in call.arguments], len(rows))

    def _value(
        self,
        item: BatchCall | Const | Ref,
        function: PandasRows,
        rows: list[Row],
        known: dict[tuple[type, int], Data],
    ) -> Data:
        """Return a column or the result of a call as a function takes it, or a literal."""
        if isinstance(item, Const):
            return item.value
        if isinstance(item, BatchCall):
            found = self._result(item, rows, known)
            if type(item.function) is type(function):
                return found
            return function.column(item.function.values(found), item.type, None, function.zone)
        key = type(function), item.index
        if key not in known:
            name, values = self._columns[item.index].name, [row[item.index] for row in rows]
            known[key] = function.column(values, item.type, name, function.zone)
        return known[key]
