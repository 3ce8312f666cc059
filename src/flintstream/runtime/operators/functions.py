"""Operators that run one user function over blocks of records."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

from flintstream.compiled import load
from flintstream.compiled.keyed import call_each
from flintstream.contracts.output_tag import OutputTag
from flintstream.runtime.copies import copy_mutable
from flintstream.runtime.failure import OperatorFailure, current_record
from flintstream.runtime.operators.base import Operator
from flintstream.runtime.operators.contexts import ProcessContext
from flintstream.runtime.selectors import field_of
from flintstream.runtime.times import MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flintstream.runtime.operators.base import OperatorContext, Output


_base = load("base")


def compiled_can_use(state: Any) -> bool:
    """Return whether there are compiled loops that can set the current key of a state backend."""
    return _base is not None and _base.is_plain(state)


MAP, FILTER, FLAT_MAP = "map", "filter", "flat_map"
"""Method names of functions that need only the record."""


class FunctionOperator(Operator):
    """Base of operators around one user function with ``open`` and ``close``."""

    can_be_cut = True

    def __init__(self, function: Any) -> None:
        """Take the user's function object."""
        self.function = function
        self.cursor: Iterator[Any] | None = None

    def open(self) -> None:
        """Open the user's function."""
        try:
            self.function.open(self.context.runtime_context)
        except BaseException as error:
            raise self.failure(error, []) from error

    def close(self) -> None:
        """Close the user's function. As in PyFlink, an exception of it does not fail the job; it becomes a warning."""
        try:
            self.function.close()
        except BaseException as error:
            if not isinstance(error, Exception):
                raise self.failure(error, []) from error
            self.context.warn(f"close() raised {type(error).__name__}: {error}")

    def failure(self, error: BaseException, values: Sequence[Any]) -> OperatorFailure:
        """Wrap an exception with the operator's name and the record at the cursor."""
        if isinstance(error, OperatorFailure):
            return error
        begun = values[: len(values) - len(self.interrupter.rest)]
        return OperatorFailure(self.context.name, self.context.subtask, error, current_record(begun, self.cursor))

    def emit_each(self, results: list[Any], timestamps: list[int] | None) -> None:
        """Emit one result for each processed record."""
        if self.interrupter.rest and timestamps is not None:
            timestamps = timestamps[: len(results)]
        self.output.emit(results, timestamps)


class MapOperator(FunctionOperator):
    """``map``: one record out for each record in, None included.

    Results of a plain function are emitted without a copy. A function object may keep what it returns, so its results
    are copied.
    """

    method = MAP
    one_for_one = True

    def __init__(self, function: Any, *, plain: bool) -> None:
        """Take the user's function. A ``plain`` function keeps nothing between calls."""
        super().__init__(function)
        self.keeps_results = not plain

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Map a block."""
        call, frozen = self.function.map, self.frozen
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            if self.keeps_results:
                results = [r if type(r := call(value)) in frozen else copy_mutable(r) for value in cursor]
            else:
                results = [call(value) for value in cursor]
        except BaseException as error:
            raise self.failure(error, values) from error
        self.emit_each(results, timestamps)


class FilterOperator(FunctionOperator):
    """``filter``: keeps records for which the function returns a true value."""

    method, keeps_results = FILTER, False

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Filter a block."""
        keep = self.function.filter
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            if timestamps is None:
                kept, stamps = [value for value in cursor if keep(value)], None
            else:
                flags = [keep(value) for value in cursor]
                kept, stamps = list(compress(values, flags)), list(compress(timestamps, flags))
        except BaseException as error:
            raise self.failure(error, values) from error
        if kept:
            self.output.emit(kept, stamps)


class CollectingOperator(FunctionOperator):
    """Base of operators whose function returns an iterable of results for each record."""

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Decide whether to sort results by output tag."""
        super().setup(context, output, side_outputs)
        self.tagged = bool(side_outputs)

    def send(self, results: list[Any], timestamps: list[int] | None) -> None:
        """Emit results, and route each ``(tag, value)`` to its side output."""
        if not results:
            return
        if not self.tagged:
            self.output.emit(results, timestamps)
            return
        sides = self.side_outputs
        main: list[int] = []
        side: dict[str, list[int]] = {}
        for i, result in enumerate(results):
            if type(result) is tuple and result and isinstance(result[0], OutputTag):
                if result[0].tag_id in sides:  # results with other tags are dropped, as in PyFlink
                    side.setdefault(result[0].tag_id, []).append(i)
            else:
                main.append(i)
        for tag, chosen in side.items():
            sides[tag].emit(
                [results[i][1] for i in chosen], None if timestamps is None else [timestamps[i] for i in chosen]
            )
        if len(main) == len(results):
            self.output.emit(results, timestamps)
        elif main:
            self.output.emit([results[i] for i in main], None if timestamps is None else [timestamps[i] for i in main])

    def call_each(self, call: Any, ctx: Any, values: list[Any], timestamps: list[int] | None) -> None:
        """Call a process method for each record of a block, and send the results with the record's timestamp."""
        self.call_with_keys(call, ctx, None, None, values, timestamps)

    def call_with_keys(
        self, call: Any, ctx: Any, state: Any, key: Any, values: list[Any], timestamps: list[int] | None
    ) -> None:
        """Do the same, with the current key of ``state`` set to each record's ``key``, if there is one."""
        results: list[Any] = []
        stamps: list[int] = []
        field = -1 if key is None else field_of(key)
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            if timestamps is None:
                ctx._timestamp = MIN_TIMESTAMP
            call_each(call, ctx, state, key, field, cursor, timestamps, self.frozen, copy_mutable, results, stamps)
        except BaseException as error:
            raise self.failure(error, values) from error
        self.send(results, None if timestamps is None else stamps)

    def gather(self, produced: Iterable[Any], into: list[Any]) -> int:
        """Append a copy of each produced object and return their number."""
        before = len(into)
        append, frozen = into.append, self.frozen
        for result in produced:
            append(result if type(result) in frozen else copy_mutable(result))
        return len(into) - before


class FlatMapOperator(CollectingOperator):
    """``flat_map``: any number of records out for each record in."""

    method, keeps_results = FLAT_MAP, True

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Flat-map a block."""
        call = self.function.flat_map
        results: list[Any] = []
        append, frozen = results.append, self.frozen
        stamps: list[int] | None = None
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            if timestamps is None:
                for value in cursor:
                    for result in call(value):
                        append(result if type(result) in frozen else copy_mutable(result))
            else:
                stamps = []
                for value, timestamp in zip(cursor, timestamps, strict=False):
                    n = self.gather(call(value), results)
                    stamps += [timestamp] * n
        except BaseException as error:
            raise self.failure(error, values) from error
        self.send(results, stamps)


class ProcessOperator(CollectingOperator):
    """``process`` on a non-keyed stream."""

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the function's context."""
        super().setup(context, output, side_outputs)
        self.ctx = ProcessContext()

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process a block."""
        self.call_each(self.function.process_element, self.ctx, values, timestamps)

    def process_watermark(self, timestamp: int) -> None:
        """Show the watermark to the function, then forward it."""
        self.ctx.watermark(timestamp)
        super().process_watermark(timestamp)

    def restore_watermark(self, timestamp: int) -> None:
        """Show the restored watermark to the function."""
        self.ctx.watermark(timestamp)


class ProjectOperator(Operator):
    """``project``: picks fields of tuples."""

    one_for_one = True

    def __init__(self, fields: tuple[int, ...]) -> None:
        """Take the positions to keep, in order."""
        self.fields = fields

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Project a block."""
        fields = self.fields
        cursor = iter(values)
        try:
            results = [tuple([value[i] for i in fields]) for value in cursor]
        except BaseException as error:
            raise OperatorFailure(
                self.context.name, self.context.subtask, error, current_record(values, cursor)
            ) from error
        self.output.emit(results, timestamps)
