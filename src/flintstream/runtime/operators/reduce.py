"""Rolling reduce on a keyed stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.runtime.copies import ATOMS, snapshot
from flintstream.runtime.keys import freeze_key
from flintstream.runtime.operators.functions import FunctionOperator
from flintstream.runtime.operators.operator import MAX_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.runtime.operators.operator import OperatorContext, Output


class ReduceOperator(FunctionOperator):
    """``reduce``: STREAMING emits the running value for every record, BATCH one value per key."""

    def __init__(self, function: Any, selector: Callable[[Any], Any]) -> None:
        """Take the user's function and the stream's key selector."""
        super().__init__(function)
        self.selector = selector
        self.freeze = False

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Create the state that holds the running value."""
        from flintstream.contracts.state import ValueStateDescriptor  # noqa: PLC0415

        super().setup(context, output, side_outputs)
        assert context.state is not None  # noqa: S101
        self.state = context.state
        self.value: Any = self.state.state(ValueStateDescriptor("_reduce_state", None))

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Reduce a block."""
        state, key, current, update = self.state, self.selector, self.value.value, self.value.update
        call = self.function.reduce
        if self.freeze:
            plain = key
            key = lambda value: freeze_key(plain(value))  # noqa: E731
        results: list[Any] = []
        append = results.append
        self.cursor = self.watch.cursor = cursor = iter(values)
        try:
            for value in cursor:
                state.key = key(value)
                before = current()
                after = value if before is None else call(before, value)
                update(after)
                append(after if type(after) in ATOMS else snapshot(after))
        except BaseException as error:
            raise self.failure(error, values) from error
        if not self.context.batch:
            self.emit_each(results, timestamps)

    def end_key(self) -> None:
        """BATCH: all records of the current key are in; emit its value, drop its state."""
        value = self.value.value()
        if value is not None:
            self.output.emit([value], [MAX_TIMESTAMP])
        self.state.clear_all()
