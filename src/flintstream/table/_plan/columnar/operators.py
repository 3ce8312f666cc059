"""Operators whose records are batches of Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.connectors.files.arrow_values import ArrowBatch, cast_times, cut_times
from flintstream.runtime.operators.functions import FunctionOperator
from flintstream.table._expressions.codegen import compile_source, source
from flintstream.table._expressions.expr import Const, Ref
from flintstream.table._expressions.python_values import converter_of
from flintstream.table._functions import series
from flintstream.table._functions.arrow_values import time_unit
from flintstream.table._logical.merging import inline
from flintstream.table._operators.generated import Functions
from flintstream.table._plan.batches import BatchCall
from flintstream.table._plan.columnar.lanes import Step
from flintstream.table._plan.columnar.types import unit_in_files, unit_in_rows
from flintstream.table._types.rules import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyarrow import Array, RecordBatch

    from flintstream.table._expressions.expr import Column
    from flintstream.table._functions.kinds import PandasRows
    from flintstream.table._functions.series import Data
    from flintstream.table._plan.columnar.lanes import Evaluation, Path

_AS_THEY_ARE = (*INTEGERS, t.BooleanType, t.DoubleType, t.VarCharType, t.VarBinaryType)
"""Types whose values in Python are those of a plan."""


def column_at(batch: RecordBatch, path: Path) -> Array:
    """Return a column of a batch, or a field within it, which is NULL where the row around it is.

    >>> pa = series.arrow()
    >>> column_at(pa.RecordBatch.from_pydict({"r": [{"a": 1}, None]}), (0, 0)).to_pylist()
    [1, None]
    """
    found = batch.column(path[0])
    for index in path[1:]:
        found = found.flatten()[index]
    return found


class BatchesOperator(FunctionOperator):
    """Makes a record of each batch, or several."""

    def process(self, values: list[ArrowBatch], timestamps: list[int] | None) -> None:
        """Process a block of batches."""
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        results: list[object] = []
        try:
            for value in cursor:
                results += self.results(value)
        except BaseException as error:
            raise self.failure(error, values) from error
        if results:
            self.output.emit(results, None if timestamps is None else [timestamps[0]] * len(results))

    def results(self, value: ArrowBatch) -> Iterable[object]:
        """Return what becomes of a batch.

        Raises:
            NotImplementedError: Always; subclasses say.
        """
        raise NotImplementedError


class CallsOperator(BatchesOperator):
    """Adds the results of functions to batches, as columns."""

    def __init__(self, step: Step, size: int) -> None:
        """Take the functions, and the most rows that they get at once."""
        super().__init__(Functions(dict.fromkeys(part.function for call in step.node.calls for part in call.calls())))
        self._calls = step.node.calls
        self._columns = step.node.input.columns
        self._where = step.where
        self._size = size

    def open(self) -> None:
        """Open the functions, and import pandas: the first batch would end an epoch as one of a slow function."""
        series.array_from_pandas(series.to_pandas([1], t.DataTypes.INT(), None, "UTC"), t.DataTypes.INT(), "UTC")
        super().open()

    def results(self, value: ArrowBatch) -> Iterable[object]:
        """Yield batches with further columns."""
        return [self._call(piece) for piece in value.pieces(self._size)]

    def _call(self, batch: RecordBatch) -> ArrowBatch:
        known: dict[tuple[type, int], Data] = {}
        arrays = list(batch.columns)
        arrays += [call.function.array(self._result(call, batch, known)) for call in self._calls]
        return ArrowBatch(series.arrow().RecordBatch.from_arrays(arrays, names=[str(i) for i in range(len(arrays))]))

    def _result(self, call: BatchCall, batch: RecordBatch, known: dict[tuple[type, int], Data]) -> Data:
        given = [self._value(part, call.function, batch, known) for part in call.arguments]
        return call.function.call(given, len(batch))

    def _value(
        self,
        item: BatchCall | Const | Ref,
        function: PandasRows,
        batch: RecordBatch,
        known: dict[tuple[type, int], Data],
    ) -> Data:
        """Return a column or the result of a call as a function takes it, or a literal."""
        if isinstance(item, Const):
            return item.value
        if isinstance(item, BatchCall):
            found = self._result(item, batch, known)
            if type(item.function) is type(function):
                return found
            return function.of_array(item.function.array(found), item.type, None)
        key = type(function), item.index
        if key not in known:
            column = cast_times(column_at(batch, self._where[item.index]), series.arrow_type(item.type))
            known[key] = function.of_array(column, item.type, self._columns[item.index].name)
        return known[key]


class EvaluationOperator(BatchesOperator):
    """Keeps the rows for which a condition holds, and adds the values of expressions as columns.

    Rows are made of the columns that are read; all others stay as they are.
    """

    def __init__(self, step: Evaluation) -> None:
        """Take the condition and the expressions."""
        super().__init__(Functions(()))
        given = step.node.input.columns
        read = sorted({*step.read()})
        self._read = [(step.where[i], given[i].type) for i in read]
        self._types = tuple(step.types())
        refs = [Ref(column.type, read.index(i) if i in read else -1) for i, column in enumerate(given)]
        values = [inline(part, refs) for part in step.expressions]
        condition = None if step.condition is None else inline(step.condition, refs)
        number = Ref(t.DataTypes.INT(), len(read))
        self._code = source([number, *values], condition, stamped=False)
        self._run: Callable[..., None] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled code."""
        return {**self.__dict__, "_run": None}

    def results(self, value: ArrowBatch) -> Iterable[object]:
        """Return the batch, if any of its rows are left."""
        run = self._run = self._run or compile_source(self._code)
        batch, found = value.batch, list[tuple[object, ...]]()
        columns = [_values(column_at(batch, path), kind) for path, kind in self._read]
        run(zip(*columns, range(len(batch)), strict=True), found.append)
        if not found:
            return ()
        numbers, *values = zip(*found, strict=True)
        kept = batch if len(found) == len(batch) else batch.take(series.arrow().array(numbers))
        made = [series.array_of(column, kind, unit_in_rows) for column, kind in zip(values, self._types, strict=True)]
        arrays = [*kept.columns, *made]
        return [ArrowBatch(series.arrow().RecordBatch.from_arrays(arrays, names=[*map(str, range(len(arrays)))]))]


def operator_of(step: Step | Evaluation, size: int) -> tuple[str, BatchesOperator]:
    """Return the name and the operator of a step; functions get up to ``size`` rows at once."""
    return ("PythonCalc", CallsOperator(step, size)) if isinstance(step, Step) else ("Calc", EvaluationOperator(step))


class _OfColumns(BatchesOperator):
    def __init__(self, columns: Sequence[Column], where: Sequence[Path]) -> None:
        """Take the columns, and where they are in the batches."""
        super().__init__(Functions(()))
        self._columns = tuple(columns)
        self._where = tuple(where)


class RowsOperator(_OfColumns):
    """Turns batches into the rows of a plan."""

    def results(self, value: ArrowBatch) -> Iterable[object]:
        """Return the rows."""
        paths = zip(self._columns, self._where, strict=True)
        return zip(*(_values(column_at(value.batch, path), column.type) for column, path in paths), strict=True)


class ColumnsOperator(_OfColumns):
    """Leaves only the columns of a plan in batches, in their types and order."""

    _unit_of = staticmethod(time_unit)

    def results(self, value: ArrowBatch) -> Iterable[object]:
        """Return the batch."""
        paths = zip(self._columns, self._where, strict=True)
        arrays = [
            cast_times(column_at(value.batch, path), series.arrow_type(column.type, self._unit_of))
            for column, path in paths
        ]
        names = [column.name for column in self._columns]
        return [ArrowBatch(series.arrow().RecordBatch.from_arrays(arrays, names=names))]


class StoredOperator(ColumnsOperator):
    """The same for files, whose timestamps have the digits of rows, but at most microseconds."""

    _unit_of = staticmethod(unit_in_files)


def _values(array: Array, kind: t.DataType) -> list[object]:
    values = series.values_of(cut_times(array, series.arrow_type(kind, unit_in_rows)), kind)
    convert = None if type(kind) in _AS_THEY_ARE else converter_of(kind)
    return values if convert is None else [None if value is None else convert(value) for value in values]
