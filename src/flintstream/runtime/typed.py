"""Brings the results of a typed operator to their declared type, where PyFlink would encode them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from flintstream.common._conversion import convert_block
from flintstream.runtime.failure import OperatorFailure, current_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.runtime.operator import OperatorContext, Output


class ConvertingOutput:
    """Converts each value of a block before it goes on."""

    def __init__(self, output: Output, converter: Callable[[Any], Any], context: OperatorContext, text: str) -> None:
        """Convert with ``converter``, which brings values to the type called ``text``."""
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
        except Exception as error:
            explained = type(error)(f"{error} (declared output type: {self.text})")
            record = current_record(values, cursor)
            raise OperatorFailure(self.context.name, self.context.subtask, explained, record) from error
        self.output.emit(values, timestamps)


def convert_output(
    operator: Any, output_type: TypeInformation | None, side_types: Mapping[str, TypeInformation | None]
) -> Any:
    """Return the operator with its outputs' types noted, for :func:`typed_outputs` to act on in the task."""
    if output_type is None and not any(side_types.values()):
        return operator
    operator = copy.copy(operator)  # the user may execute the same stream again under other conditions
    operator.declared_type = output_type
    operator.declared_side_types = dict(side_types)
    return operator


def typed_outputs(
    operator: Any, context: OperatorContext, main: Output, sides: dict[str, Output]
) -> tuple[Output, dict[str, Output]]:
    """Wrap the outputs of an operator whose types were declared."""
    main = _typed(main, getattr(operator, "declared_type", None), context)
    side_types = getattr(operator, "declared_side_types", {})
    return main, {tag: _typed(output, side_types.get(tag), context) for tag, output in sides.items()}


def _typed(output: Output, declared: TypeInformation | None, context: OperatorContext) -> Output:
    converter = declared.converter() if declared is not None else None
    return output if converter is None else ConvertingOutput(output, converter, context, str(declared))
