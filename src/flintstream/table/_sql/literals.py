"""From sqlglot's trees of literals to our syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.times import texts as time_texts
from flintstream.table._expressions.times.helpers import cut_time
from flintstream.table._sql import exp
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.literals import interval, number
from flintstream.table._types.rules import text_type

if TYPE_CHECKING:
    from flintstream.table._errors import Place


def literal(_: object, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return a text or number."""
    text = node.this
    return s.Value(place, text, text_type(text)) if node.is_string else number(text, place)


def boolean(_: object, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return TRUE or FALSE."""
    return s.Value(place, bool(node.this), t.BooleanType(False))


def null(_: object, __: object, place: Place | None) -> s.Syntax:
    """Return NULL."""
    return s.Value(place, None, t.NullType())


def typed_literal(node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return ``DATE '2020-01-31'``, TIME or TIMESTAMP."""
    text, word = node.this.name, node.args["to"].this.name
    try:
        if word == "DATE":
            return s.Value(place, time_texts.parse_date(text.strip()), t.DateType(False))
        if word == "TIME":
            digits = min(len(text.partition(".")[2]), 3)
            return s.Value(place, cut_time(time_texts.parse_time(text), digits), t.TimeType(digits, False))
        whole, dot, fraction = text.partition(".")
        digits = fraction[:9]
        found = time_texts.parse_short_timestamp(f"{whole}{dot}{digits}", 9)
        return s.Value(place, found, t.TimestampType(len(digits), False))
    except ValueError as error:
        raise SqlError(f"{error}{at(place)}") from error


def interval_of(_: object, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return an INTERVAL."""
    unit = node.args.get("unit")
    parts = [unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit]
    first, last = ([_unit(part) for part in parts] + [("", ())])[:2]
    text = node.this.name
    if isinstance(node.this, exp.Neg):  # INTERVAL -'1' DAY
        text = text.removeprefix("-") if text.startswith("-") else f"-{text.removeprefix('+')}"
    return interval(text, first[0], last[0], place, first[1], last[1])


def _unit(part: exp.Expr | None) -> tuple[str, tuple[int, ...]]:
    """Return a unit such as ``DAY(3)`` and its numbers of digits."""
    if part is None:
        return "", ()
    digits = tuple(int(item.this) for item in part.expressions) if isinstance(part, exp.Anonymous) else ()
    return part.name.upper().rstrip("S"), digits


def hex_string(_: object, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return ``X'0a'``."""
    value = bytes.fromhex(node.this)
    return s.Value(place, value, t.BinaryType(max(len(value), 1), False))


def national(_: object, node: exp.Expr, place: Place | None) -> s.Syntax:
    """Return ``N'a'``."""
    return s.Value(place, node.name, text_type(node.name))
