"""Comparisons of one value with many constants, as a search in a set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.codegen import compile_source, source
from flintstream.table._expressions.expr import Call, Const, may_be_none
from flintstream.table._types.rules import INTEGERS, TEXTS, is_nullable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit, Expr

_HASHABLE = (*INTEGERS, *TEXTS, t.DecimalType, t.BooleanType, t.DateType, t.TimeType, t.TimestampType)
"""Types whose values are equal exactly if they are found by their hash."""


def in_sets(tests: Sequence[Call]) -> list[Expr]:
    """Return tests of which any must hold, with one search in a set for all ``a = constant`` of a type.

    Args:
        tests: ``a = b``, with the same ``a``, perhaps converted to different types.
    """
    constants = _constants([item.arguments[1] for item in tests])
    if constants is None:
        return list(tests)
    groups: list[tuple[Expr, list[object]]] = []
    others: list[Expr] = []
    for test, constant in zip(tests, constants, strict=True):
        value = test.arguments[0]
        if constant is None or not isinstance(value.type, _HASHABLE):
            others.append(test)
            continue
        group = next((members for head, members in groups if head.type == value.type), None)
        if group is None:
            groups.append((value, [constant.value]))
        else:
            group.append(constant.value)
    return [*(_in_set(value, members) for value, members in groups), *others]


def _in_set(value: Expr, members: list[object]) -> Expr:
    known = frozenset(member for member in members if member is not None)
    unknown = len(known) < len(set(members))
    kind = t.BooleanType(is_nullable(value.type) or unknown)
    shown = tuple(Const(value.type, member) for member in members)
    return Call(kind, "IN", (value, *shown), _search(known, unknown=unknown), strict=False)


def _search(known: frozenset[object], *, unknown: bool) -> Emit:
    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        value = call.arguments[0]
        name, members = generator.value(value), generator.known("k", known)
        if unknown:
            return f"(True if {name} in {members} else None)"
        return f"(None if {name} is None else {name} in {members})" if may_be_none(value) else f"({name} in {members})"

    return emit


def _constants(expressions: Sequence[Expr]) -> list[Const | None] | None:
    """Return the values of literals, converted ones included; None if one cannot be converted."""
    found: list[Const | None] = []
    converted: list[tuple[int, Expr]] = []
    for number, item in enumerate(expressions):
        found.append(item if isinstance(item, Const) else None)
        if isinstance(item, Call) and item.name == "CAST" and isinstance(item.arguments[0], Const):
            converted.append((number, item))
    if converted:
        rows: list[tuple[object, ...]] = []
        try:
            compile_source(source([item for _, item in converted], None, stamped=False))([()], rows.append)
        except Exception:  # noqa: BLE001 - each row fails then, if there are rows
            return None
        for (number, item), value in zip(converted, rows[0], strict=True):
            found[number] = Const(item.type, value)
    return found
