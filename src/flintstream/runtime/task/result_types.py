"""Conversion of a typed operator's results to their declared type, at the point where PyFlink encodes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types.conversion import convert_block
from flintstream.runtime.failure import OperatorFailure, current_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.runtime.operators.base import OperatorContext, Output
    from flintstream.runtime.plan import NodePlan


class ConvertingOutput:
    """Converts each value of a block before passing it on."""

    def __init__(self, output: Output, converter: Callable[[Any], Any], context: OperatorContext, text: str) -> None:
        """Convert with ``converter``, which returns values of the type that messages call ``text``."""
        self.output = output
        self.converter = converter
        self.context = context
        self.text = text
        self.emit_watermark = output.emit_watermark
        self.emit_idle = output.emit_idle

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Convert a block and send it on."""
        cursor = iter(values)
        try:
            values = convert_block(self.converter, values, cursor)
        except BaseException as error:
            record = current_record(values, cursor)
            raise OperatorFailure(self.context.name, self.context.subtask, self._explain(error), record) from error
        self.output.emit(values, timestamps)

    def _explain(self, error: BaseException) -> BaseException:
        text = f"{error} (declared output type: {self.text})"
        try:
            return type(error)(text)
        except Exception:  # noqa: BLE001 - the class takes other arguments
            return error


def converting_outputs(
    node: NodePlan, context: OperatorContext, main: Output, sides: dict[str, Output]
) -> tuple[Output, dict[str, Output]]:
    """Wrap those outputs of an operator that have a declared type."""
    main = _with_converter(main, node.output_type, context)
    return main, {tag: _with_converter(output, node.side_types.get(tag), context) for tag, output in sides.items()}


def _with_converter(output: Output, declared: TypeInformation | None, context: OperatorContext) -> Output:
    converter = declared.converter() if declared is not None else None
    return output if converter is None else ConvertingOutput(output, converter, context, str(declared))
