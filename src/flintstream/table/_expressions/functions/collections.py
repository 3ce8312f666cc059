"""Functions of arrays and maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, template
from flintstream.table._expressions.functions.signatures import BOOLEAN, FUNCTIONS, INT, STRING, Function, structure
from flintstream.table._expressions.operators import WITHOUT_ORDER
from flintstream.table._types.rules import INTEGERS, TEXTS, common_type, has_lists, is_nullable, with_null

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.operators import Build


def _same(kind: DataType) -> DataType:
    return kind


def _element(kind: DataType) -> DataType:
    return kind.element_type if isinstance(kind, t.ArrayType) else kind


def _on_array(code: str, result: Callable[[DataType], DataType], *, may_be_null: bool = False) -> Build:
    """Return the builder of a function of one array."""

    def build(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
        if len(arguments) != 1 or not isinstance(arguments[0].type, t.ArrayType):
            return None
        kind = arguments[0].type
        made = result(kind)
        nullable = may_be_null or is_nullable(kind) or is_nullable(made)
        return Call(with_null(made, nullable), name, tuple(arguments), template(code))

    return build


def _with_element(code: str, result: DataType | None = None, *, strict: bool = False) -> Build:
    """Return the builder of a function of an array and an element, which may be None unless ``strict``."""

    def build(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
        if len(arguments) != 2 or not isinstance(arguments[0].type, t.ArrayType):
            return None
        array, element = arguments
        common = common_type([_element(array.type), element.type])
        if common is None:
            return None
        nullable = is_nullable(array.type) or (strict and is_nullable(element.type))
        kind = t.ArrayType(common, is_nullable(array.type))
        given = (cast(array, kind, zone) or array, cast(element, common, zone) or element)
        made = with_null(kind if result is None else result, nullable)
        guarded = f"(None if {{0}} is None{' or {1} is None' if strict else ''} else {code})"
        return Call(made, name, given, structure(guarded), strict=False)

    return build


def _together(code: str, least: int = 2) -> Build:
    """Return the builder of a function of several arrays, brought to one type."""

    def build(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
        common = common_type([argument.type for argument in arguments])
        if len(arguments) < least or not isinstance(common, t.ArrayType):
            return None
        given = tuple(cast(argument, common, zone) or argument for argument in arguments)
        return Call(common, name, given, template(code))

    return build


def _slice(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    fits = len(arguments) in {2, 3} and all(type(argument.type) in INTEGERS for argument in arguments[1:])
    return _call(name, arguments, "array_slice({all})") if fits else None


def _in_order(build: Build) -> Build:
    """Return the builder of a function of arrays whose elements have an order."""

    def check_arguments(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
        kind = arguments[0].type if arguments else None
        without = isinstance(kind, t.ArrayType) and isinstance(kind.element_type, WITHOUT_ORDER)
        return None if without else build(name, arguments, zone)

    return check_arguments


def _sort(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    fits = 1 <= len(arguments) <= 3 and all(isinstance(argument.type, t.BooleanType) for argument in arguments[1:])
    return _call(name, arguments, "array_sort({all})") if fits else None


def _call(name: str, arguments: Sequence[Expr], code: str) -> Expr | None:
    kind = arguments[0].type
    if not isinstance(kind, t.ArrayType):
        return None
    nullable = any(is_nullable(argument.type) for argument in arguments)
    return Call(with_null(kind, nullable), name, tuple(arguments), template(code))


def _join(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    array, *texts = arguments
    if not isinstance(_element(array.type), TEXTS) or not isinstance(array.type, t.ArrayType):
        return None
    if len(texts) not in {1, 2} or not all(isinstance(text.type, TEXTS) for text in texts):
        return None
    nullable = any(is_nullable(argument.type) for argument in arguments)
    return Call(with_null(STRING, nullable), name, tuple(arguments), template("array_join({all})"))


def _on_map(code: str, result: Callable[[t.MapType], DataType]) -> Build:
    """Return the builder of a function of one map."""

    def build(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
        kind = arguments[0].type if len(arguments) == 1 else None
        if not isinstance(kind, t.MapType):
            return None
        return Call(with_null(result(kind), is_nullable(kind)), name, tuple(arguments), template(code))

    return build


def _entries(kind: t.MapType) -> DataType:
    return t.ArrayType(t.RowType([t.RowField("key", kind.key_type), t.RowField("value", kind.value_type)]))


def _from_arrays(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    if len(arguments) != 2:
        return None
    keys, values = (argument.type for argument in arguments)
    if not isinstance(keys, t.ArrayType) or not isinstance(values, t.ArrayType) or has_lists(keys.element_type):
        return None
    kind = t.MapType(keys.element_type, values.element_type, is_nullable(keys) or is_nullable(values))
    return Call(kind, name, tuple(arguments), template("map_of({0}, {1})"))


def _map_union(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    common = common_type([argument.type for argument in arguments])
    if not isinstance(common, t.MapType):
        return None
    given = tuple(cast(argument, common, zone) or argument for argument in arguments)
    return Call(common, name, given, template("map_union({all})"))


_BOTH = "distinct([each for each in {0} if each %s {1}])"
for _name, _takes, _build in (
    ("ARRAY_CONTAINS", "(ARRAY, any)", _with_element("({1} in {0})", BOOLEAN)),
    ("ARRAY_POSITION", "(ARRAY, any)", _with_element("array_position({0}, {1})", INT, strict=True)),
    ("ARRAY_REMOVE", "(ARRAY, any)", _with_element("[each for each in {0} if each != {1}]")),
    ("ARRAY_APPEND", "(ARRAY, any)", _with_element("[*{0}, {1}]")),
    ("ARRAY_PREPEND", "(ARRAY, any)", _with_element("[{1}, *{0}]")),
    ("ARRAY_DISTINCT", "(ARRAY)", _on_array("distinct({0})", _same)),
    ("ARRAY_REVERSE", "(ARRAY)", _on_array("{0}[::-1]", _same)),
    ("ARRAY_MAX", "(ARRAY)", _in_order(_on_array("max(known({0}), default=None)", _element, may_be_null=True))),
    ("ARRAY_MIN", "(ARRAY)", _in_order(_on_array("min(known({0}), default=None)", _element, may_be_null=True))),
    ("ELEMENT", "(ARRAY)", _on_array("only({0})", _element)),
    ("ARRAY_UNION", "(ARRAY, ARRAY)", _together("distinct([*{0}, *{1}])")),
    ("ARRAY_EXCEPT", "(ARRAY, ARRAY)", _together(_BOTH % "not in")),
    ("ARRAY_INTERSECT", "(ARRAY, ARRAY)", _together(_BOTH % "in")),
    ("ARRAY_CONCAT", "(ARRAY, ...)", _together("array_concat({all})", 1)),
    ("ARRAY_SLICE", "(ARRAY, INT, INT [optional])", _slice),
    ("ARRAY_SORT", "(ARRAY, BOOLEAN [optional], BOOLEAN [optional])", _in_order(_sort)),
    ("ARRAY_JOIN", "(ARRAY of STRING, STRING, STRING [optional])", _join),
    ("MAP_KEYS", "(MAP)", _on_map("list({0})", lambda kind: t.ArrayType(kind.key_type))),
    ("MAP_VALUES", "(MAP)", _on_map("list({0}.values())", lambda kind: t.ArrayType(kind.value_type))),
    ("MAP_ENTRIES", "(MAP)", _on_map("map_entries({0})", _entries)),
    ("MAP_FROM_ARRAYS", "(ARRAY, ARRAY)", _from_arrays),
    ("MAP_UNION", "(MAP, ...)", _map_union),
):
    FUNCTIONS[_name] = Function(_name, ("A*",), _build, _takes)
