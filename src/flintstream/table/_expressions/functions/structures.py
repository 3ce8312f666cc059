"""Operators and conditions by name; arrays, maps and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions import operators as op
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, Const, template
from flintstream.table._expressions.functions.objects import variant_item
from flintstream.table._expressions.functions.signatures import FUNCTIONS, STRING, Function, add, structure
from flintstream.table._types.objects import VariantType
from flintstream.table._types.rules import (
    INTEGERS,
    TEXTS,
    common_type,
    has_lists,
    is_nullable,
    sql_name,
    with_null,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._expressions.expr import Expr


def _nullif(_: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    test = op.comparison("=", arguments, zone)
    if test is None:
        return None
    return op.case("NULLIF", (test, Const(t.NullType(), None), arguments[0]), zone)


def _extreme(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    common = common_type([argument.type for argument in arguments])
    given = [cast(argument, common, zone) for argument in arguments] if common is not None else []
    parts = tuple(item for item in given if item is not None)
    if common is None or len(parts) < len(arguments) or isinstance(common, op.WITHOUT_ORDER):
        return None
    if len(parts) == 1:
        return parts[0]
    floating = isinstance(common, (t.FloatType, t.DoubleType))
    function = name.lower() if floating else "max" if name == "GREATEST" else "min"
    return Call(common, name, parts, template(function + "({all})"))


def _array(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    common = common_type([argument.type for argument in arguments])
    if common is None:
        return None
    parts = tuple(cast(argument, common, zone) or argument for argument in arguments)
    return Call(t.ArrayType(common, False), name, parts, structure("[{all}]"), strict=False)


def _map(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    key = common_type([argument.type for argument in arguments[::2]])
    value = common_type([argument.type for argument in arguments[1::2]])
    if key is None or value is None or len(arguments) % 2 or has_lists(key):
        return None
    parts = tuple(cast(item, (key, value)[i % 2], zone) or item for i, item in enumerate(arguments))
    pairs = ", ".join(f"{{{i}}}: {{{i + 1}}}" for i in range(0, len(arguments), 2))
    return Call(t.MapType(key, value, False), name, parts, structure(f"{{{{{pairs}}}}}"), strict=False)


def _row(name: str, arguments: Sequence[Expr], zone: str) -> Expr:  # noqa: ARG001 - one signature
    fields = [t.RowField(f"EXPR${i}", item.type) for i, item in enumerate(arguments)]
    names = tuple(field.name for field in fields)
    return Call(
        t.RowType(fields, False), name, tuple(arguments), structure(f"named_row({names!r}, [{{all}}])"), strict=False
    )


def _cardinality(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    (a,) = arguments
    if not isinstance(a.type, (t.ArrayType, t.MapType)):
        return None
    return Call(t.IntType(is_nullable(a.type)), name, (a,), template("len({0})"))


def _item(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    container, key = arguments
    if isinstance(container.type, t.ArrayType) and type(key.type) in INTEGERS:
        code = "({0}[{1} - 1] if 0 < {1} <= len({0}) else None)"
        return Call(container.type.element_type.nullable(), name, (container, key), template(code))
    if isinstance(container.type, t.MapType) and not has_lists(key.type):
        return Call(container.type.value_type.nullable(), name, (container, key), template("{0}.get({1})"))
    if isinstance(container.type, VariantType):
        return variant_item(container, key)
    if isinstance(container.type, t.RowType) and isinstance(key, Const):
        return _field(container, container.type, key.value)
    return None


def _field(container: Expr, kind: t.RowType, key: object) -> Expr | None:
    """Return the field of a row by its name, or by its number from 1 on."""
    index = key - 1 if isinstance(key, int) else kind.names.index(key) if key in kind.names else -1
    if not 0 <= index < len(kind.names):
        return None
    part = kind.field_types()[index]
    result = with_null(part, is_nullable(part) or is_nullable(kind))
    return Call(result, "FIELD", (container,), template(f"{{0}}[{index}]"))


def _concat_ws(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    if not all(isinstance(argument.type, (*TEXTS, t.NullType)) for argument in arguments):
        return None
    kind = with_null(STRING, any(is_nullable(argument.type) for argument in arguments))
    return Call(kind, name, tuple(arguments), structure("concat_ws({all})"), strict=False)


def _typeof(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    return Const(STRING, sql_name(arguments[0].type)) if arguments else None


def _if(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    made = op.case("CASE", arguments, zone) if len(arguments) == 3 else None
    if not isinstance(made, Call):
        return made
    nullable = any(is_nullable(argument.type) for argument in arguments)
    return Call(with_null(made.type, nullable), "IF", made.arguments, made.emit, strict=False)


def _if_null(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return the first value alone if it cannot be NULL, in its own type."""
    return op.coalesce(name, arguments, zone) if is_nullable(arguments[0].type) else arguments[0]


def _overlaps(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return ``(a, b) OVERLAPS (c, d)`` of four arguments; b and d may be intervals."""
    a, b, c, d = arguments
    ends = [op.arithmetic("+", (x, y), zone) or y for x, y in ((a, b), (c, d))]
    tests = [op.comparison(">=", (ends[0], c), zone), op.comparison(">=", (ends[1], a), zone)]
    known = [test for test in tests if test is not None]
    return op.logic("AND", known, zone) if len(known) == 2 else None


def _define() -> None:
    for names, signature, build in (
        ("+ | - | * | / | %", "AA", op.arithmetic),
        ("= | <> | < | <= | > | >=", "AA", op.comparison),
        ("AND | OR", "BB*", op.logic),
        ("NOT", "B", op.negation),
        ("BETWEEN", "AAA", op.between),
        ("COALESCE", "A*", op.coalesce),
        ("IFNULL", "AA", _if_null),
        ("CASE", "BAA", op.case),
        ("IF", "BAA", _if),
        ("IN", "AA*", op.within),
        ("MOD", "NN", lambda _, arguments, zone: op.arithmetic("%", arguments, zone)),
        ("NULLIF", "AA", _nullif),
        ("GREATEST | LEAST", "A*", _extreme),
        ("ARRAY", "A*", _array),
        ("MAP", "AA*", _map),
        ("ROW", "A*", _row),
        ("CARDINALITY", "A", _cardinality),
        ("ITEM", "AA", _item),
        ("CONCAT_WS", "SS*", _concat_ws),
    ):
        add(names, (signature,), build)
    for name in ("IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"):
        FUNCTIONS[name] = Function(name, ("A",), op.is_test, "(any)")
    for name in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM"):
        FUNCTIONS[name] = Function(name, ("AA",), op.distinct_from, "(any, any)")
    add("TYPEOF", ("A",), _typeof)
    add("OVERLAPS", ("DADA",), _overlaps)


_define()
