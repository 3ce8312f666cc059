"""Fields of a text: one call takes all of those out of it that a query reads, and the numbers among them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from flintstream.table._expressions.expr import Call
from flintstream.table._expressions.plain_values import Fields
from flintstream.table._types.rules import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit, Expr

MILLIS_WITHIN_YEARS = "MILLIS WITHIN YEARS"
"""The name of a call that keeps ms since the epoch which are a time; other numbers become NULL."""


def take_field(generator: Generator, names: Sequence[str], bits: int = 0) -> str | None:
    """Return the code of a field; None if its separator or position varies.

    With ``bits``, the value is a number, or the text if it is not a plain number of so many bits.
    """
    text, separator, index = names
    known, position = generator.value_of(separator), generator.value_of(index)
    if not isinstance(known, str) or not known or not isinstance(position, int) or position < 0:
        return None
    name, place = generator.want(Fields(known), text, (position, bits))
    return f"{generator.share(f'{name}({text})')}[{place}]"


def split_index(generator: Generator, call: Call, names: Sequence[str]) -> str:
    """Write the code of ``SPLIT_INDEX``."""
    text, separator, index = names
    if type(call.arguments[1].type) in INTEGERS:
        return f"split_at_code({text}, {separator}, {index})"
    return take_field(generator, names) or f"split_index({text}, {separator}, {index})"


def is_field(expression: Expr) -> bool:
    """Return whether an expression takes a field out of a text."""
    return isinstance(expression, Call) and expression.emit is split_index


def bits_of_integer(expression: Expr) -> int:
    """Return the bits of the integer that a field is cast to; 0 for another expression."""
    if not isinstance(expression, Call) or len(expression.arguments) != 1 or not is_field(expression.arguments[0]):
        return 0
    return next((bits for bits in INTEGERS.values() if expression.emit is integer_field(bits)), 0)


@cache
def integer_field(bits: int) -> Emit:
    """Return what writes the code of a cast of a field to an integer."""

    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        (field,) = call.arguments
        names = [generator.value(argument) for argument in field.arguments] if isinstance(field, Call) else []
        code = take_field(generator, names, bits)
        if code is None:
            name = generator.value(field)
            return f"None if {name} is None else parse_integer({name}, {bits})"
        return generator.put(f"w0 if (w0 := {code}).__class__ is not str else parse_integer(w0, {bits})")

    return emit
