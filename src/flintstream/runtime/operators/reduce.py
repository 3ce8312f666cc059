"""Rolling reduce on a keyed stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.contracts.state import ValueStateDescriptor
from flintstream.runtime.copies import ATOMS, copied
from flintstream.runtime.operators.base import MAX_TIMESTAMP
from flintstream.runtime.operators.keyed import KeyedOperator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.runtime.operators.base import OperatorContext, Output


class ReduceOperator(KeyedOperator):
    """``reduce``: emits the running value for every record in STREAMING mode, one value per key in BATCH mode."""

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the state of the running value."""
        super().setup(context, output, side_outputs)
        self.value: Any = self.state.state(ValueStateDescriptor("_reduce_state", None))

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Reduce a block."""
        state, key, current, update = self.state, self.key, self.value.value, self.value.update
        call = self.function.reduce
        results: list[Any] = []
        append = results.append
        self.cursor = self.watch.cursor = cursor = iter(values)
        try:
            for value in cursor:
                state.key = key(value)
                before = current()
                after = value if before is None else call(before, value)
                update(after)
                append(after if type(after) in ATOMS else copied(after))
        except BaseException as error:
            raise self.failure(error, values) from error
        if not self.context.batch:
            self.emit_each(results, timestamps)

    def end_key(self, key: Any) -> None:
        """Emit the value of a complete key and drop its state (BATCH mode)."""
        self.state.key = key
        value = self.value.value()
        if value is not None:
            self.output.emit([value], [MAX_TIMESTAMP])
        self.state.clear_all()
