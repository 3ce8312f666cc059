"""Rolling reduce on a keyed stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.formulas import formula_of
from flintstream.compiled import load
from flintstream.compiled.keyed import reduce_each
from flintstream.contracts.state import ValueStateDescriptor
from flintstream.runtime.copies import copy_mutable
from flintstream.runtime.operators.functions import compiled_can_use
from flintstream.runtime.operators.keyed import KeyedOperator
from flintstream.runtime.selectors import field_of
from flintstream.runtime.times import MAX_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.runtime.operators.base import OperatorContext, Output


_of_columns = load("windows")

_VALUE = ValueStateDescriptor("_reduce_state", None)


class _CurrentValue:
    """A value state with the interface of cells, for backends that have none: every key is the current one."""

    def __init__(self, state: Any) -> None:
        self.values = self
        self.get = lambda _: state.value()
        self.pop = lambda *_: state.clear()
        self.update = state.update

    def __setitem__(self, key: Any, value: Any) -> None:
        self.update(value)

    @property
    def dirty(self) -> dict[Any, int]:
        """A dict to forget: the state marks its own changes."""
        return {}


class ReduceOperator(KeyedOperator):
    """``reduce``: emits the running value for every record in STREAMING mode, one value per key in BATCH mode."""

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the state of the running value."""
        super().setup(context, output, side_outputs)
        state: Any = self.state
        self.value: Any = state.state(_VALUE)
        # Check the class: a method that a backend delegates to another one would not know the first one's tracking
        cells = state.cells(_VALUE) if hasattr(type(state), "cells") else None
        self.cells: Any = _CurrentValue(self.value) if cells is None else cells
        self.fold: Any = None
        """The function in a form that computes with columns, if there is one."""
        if _of_columns is not None and cells is not None and not context.batch and compiled_can_use(state):
            self.fold = _of_columns.Fold(formula_of(self.function.reduce, 2), 0) or None

    @property
    def takes_columns(self) -> bool:
        """Whether records may come as columns."""
        return self.fold is not None and field_of(self.key) >= 0

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Reduce a block."""
        state, key, call = self.state, self.key, self.function.reduce
        running, dirty, tracking = self.cells.values, self.cells.dirty, state.tracking
        if type(values) is not list:
            timestamps = None if timestamps is None else list(timestamps)
            if self._process_columns(values, timestamps):
                return
        results: list[Any] = []
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            reduce_each(
                call, formula_of(call, 2), state, key, field_of(key), cursor, running, dirty, tracking,
                self.frozen, copy_mutable, results,
            )  # fmt: skip
        except BaseException as error:
            raise self.failure(error, values) from error
        if not self.context.batch:
            self.emit_each(results, timestamps)

    def _process_columns(self, values: Any, timestamps: list[int] | None) -> bool:
        """Reduce columns, and tell whether that was possible."""
        cells, cursor = self.cells, iter(values)
        results = _of_columns.reduce_columns(
            cursor, self.fold, self.state, field_of(self.key), cells.values, cells.dirty, self.state.tracking
        )
        if results is None:
            return False
        self.emit_each(results, timestamps)
        return True

    def end_key(self, key: Any) -> None:
        """Emit the value of a complete key and drop its state (BATCH mode)."""
        self.state.key = key
        value = self.value.value()
        if value is not None:
            self.output.emit([value], [MAX_TIMESTAMP])
        self.state.clear_all()
