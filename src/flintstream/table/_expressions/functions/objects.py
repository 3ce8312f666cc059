"""Functions of documents, bitmaps and objects with a class."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, Const, template
from flintstream.table._expressions.functions.signatures import BIGINT, FUNCTIONS, STRING, Function, define, structure
from flintstream.table._types.objects import BitmapType, StructuredType, VariantType
from flintstream.table._types.rules import INTEGERS, TEXTS, is_nullable, sql_name, with_null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.expr import Expr

_VARIANT, _BITMAP = VariantType(), BitmapType()
_CLASS = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*")


def variant_item(container: Expr, key: Expr) -> Expr | None:
    """Return a member or an element of a document; None if the key is neither text nor integer."""
    function = "variant_member" if isinstance(key.type, TEXTS) else "variant_element"
    if not isinstance(key.type, TEXTS) and type(key.type) not in INTEGERS:
        return None
    return Call(_VARIANT, "ITEM", (container, key), template(f"{function}({{0}}, {{1}})"))


def _build(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return BITMAP_BUILD(array)."""
    kind = arguments[0].type if len(arguments) == 1 else None
    if not isinstance(kind, t.ArrayType) or type(kind.element_type) not in (t.IntType, t.SmallIntType, t.TinyIntType):
        return None
    given = cast(arguments[0], t.ArrayType(t.IntType(), is_nullable(kind)), zone) or arguments[0]
    return Call(with_null(_BITMAP, is_nullable(kind)), name, (given,), template("bitmap_of({0})"))


def _on_bitmaps(code: str, result: DataType, count: int = 1, *, takes: type[DataType] = BitmapType) -> Function:
    def build(name: str, arguments: Sequence[Expr], _: str) -> Expr | None:
        if len(arguments) != count or not all(isinstance(item.type, (takes, t.NullType)) for item in arguments):
            return None
        nullable = any(is_nullable(item.type) for item in arguments)
        return Call(with_null(result, nullable), name, tuple(arguments), template(code))

    return Function("", (), build, "(BYTES)" if takes is t.VarBinaryType else f"({', '.join(['BITMAP'] * count)})")


def _text_of(argument: Expr) -> str | None:
    return argument.value if isinstance(argument, Const) and isinstance(argument.value, str) else None


def _pairs(function: str, arguments: Sequence[Expr]) -> dict[str, Expr]:
    """Return the values by their names, which are literals.

    Raises:
        SqlError: A name is not a literal, or is there twice.
    """
    found: dict[str, Expr] = {}
    for position, (key, value) in enumerate(zip(arguments[::2], arguments[1::2], strict=True), 1):
        name = _text_of(key)
        if name is None:
            raise SqlError(
                f"{function}: The field key at position {2 * position} must be a non-nullable character string literal."
            )
        if name in found:
            raise SqlError(f"{function}: The field name '{name}' at position {2 * position} is repeated.")
        found[name] = value
    return found


def _object_of(name: str, arguments: Sequence[Expr], _: str) -> Expr | None:
    """Return OBJECT_OF(class, name, value, ...)."""
    if len(arguments) % 2 == 0:
        return None
    class_name = _text_of(arguments[0])
    if class_name is None:
        raise SqlError(
            f"{name}: The first argument must be a non-nullable character string literal representing the class name."
        )
    if not _CLASS.fullmatch(class_name):
        raise SqlError(f"Invalid class name '{class_name}'. The class name must comply with JVM identifier rules.")
    pairs = _pairs(name, arguments[1:])
    fields = [t.RowField(key, value.type) for key, value in pairs.items()]
    code = structure(f"named_row({tuple(pairs)!r}, [{{all}}])")
    return Call(StructuredType(class_name, fields), name, tuple(pairs.values()), code, strict=False)


def _object_update(name: str, arguments: Sequence[Expr], _: str) -> Expr | None:
    """Return OBJECT_UPDATE(object, name, value, ...)."""
    if len(arguments) % 2 == 0:
        return None
    kind = arguments[0].type
    if not isinstance(kind, StructuredType):
        raise SqlError(f"{name}: The first argument must be a structured type, but was {sql_name(kind)}.")
    pairs = _pairs(name, arguments[1:])
    for position, key in enumerate(pairs, 1):
        if key not in kind.names:
            raise SqlError(
                f"{name}: The field name '{key}' at position {2 * position} is not part of the structured type "
                f"attributes. Available attributes: [{', '.join(kind.names)}]."
            )
    kinds = {**dict(zip(kind.names, kind.field_types(), strict=True)), **{key: pairs[key].type for key in pairs}}
    fields = [t.RowField(key, part) for key, part in kinds.items()]
    places = {key: i for i, key in enumerate(pairs, 1)}
    parts = [f"{{{places[key]}}}" if key in places else f"{{0}}[{i}]" for i, key in enumerate(kind.names)]
    code = structure(f"None if {{0}} is None else named_row({tuple(kind.names)!r}, [{', '.join(parts)}])")
    made = StructuredType(kind.class_name, fields, is_nullable(kind))
    return Call(made, name, (arguments[0], *pairs.values()), code, strict=False)


define("PARSE_JSON", "P PB", _VARIANT, "parse_json({all})")
define("TRY_PARSE_JSON", "P PB", _VARIANT, "try_parse_json({all})", may_be_null=True)
FUNCTIONS["BITMAP_BUILD"] = Function("BITMAP_BUILD", (), _build, "(ARRAY<INT>)")
FUNCTIONS["OBJECT_OF"] = Function("OBJECT_OF", (), _object_of, "(class, name literal, any, ...)")
FUNCTIONS["OBJECT_UPDATE"] = Function("OBJECT_UPDATE", (), _object_update, "(object, name literal, any, ...)")
for _name, _function in (
    ("BITMAP_AND", _on_bitmaps("bitmap_and({0}, {1})", _BITMAP, 2)),
    ("BITMAP_OR", _on_bitmaps("bitmap_or({0}, {1})", _BITMAP, 2)),
    ("BITMAP_XOR", _on_bitmaps("bitmap_xor({0}, {1})", _BITMAP, 2)),
    ("BITMAP_ANDNOT", _on_bitmaps("bitmap_andnot({0}, {1})", _BITMAP, 2)),
    ("BITMAP_CARDINALITY", _on_bitmaps("len({0}.values)", BIGINT)),
    ("BITMAP_TO_ARRAY", _on_bitmaps("bitmap_to_array({0})", t.ArrayType(t.IntType()))),
    ("BITMAP_TO_BYTES", _on_bitmaps("bitmap_to_bytes({0})", t.VarBinaryType(t.MAX_LENGTH))),
    ("BITMAP_TO_STRING", _on_bitmaps("str({0})", STRING)),
    ("BITMAP_FROM_BYTES", _on_bitmaps("bitmap_from_bytes({0})", _BITMAP, takes=t.DataType)),
):
    FUNCTIONS[_name] = _function._replace(name=_name)
