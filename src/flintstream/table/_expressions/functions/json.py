"""Functions of JSON. Clauses are arguments: words such as ``NULL`` and ``DEFAULT``, and a NULL of the returned type."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, Const, template
from flintstream.table._expressions.functions.signatures import (
    BOOLEAN,
    FUNCTIONS,
    STRING,
    Function,
    define,
    structure,
)
from flintstream.table._expressions.json import helpers as json
from flintstream.table._expressions.json.paths import JsonPath
from flintstream.table._expressions.json.writer import JsonWriter, is_writable
from flintstream.table._types.objects import VariantType
from flintstream.table._types.rules import TEXTS, is_nullable, with_null

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit, Expr

_RETURNED: dict[type[DataType], Callable[[object], object]] = {
    t.VarCharType: json.scalar_text,
    t.BooleanType: json.scalar_boolean,
    t.IntType: json.scalar_integer,
    t.DoubleType: json.scalar_double,
}


def _word(argument: Expr) -> str:
    return str(argument.value) if isinstance(argument, Const) else ""


def _at_path(arguments: Sequence[Expr], make: Callable[[JsonPath], object]) -> tuple[tuple[Expr, ...], object] | None:
    """Return what a function reads of (text, path), and the function; None if one of them is not text."""
    text, path = arguments[:2]
    if isinstance(text.type, VariantType):
        text = Call(with_null(STRING, is_nullable(text.type)), "JSON_STRING", (text,), template("str({0})"))
    if not isinstance(text.type, (*TEXTS, t.NullType)) or not isinstance(path.type, TEXTS):
        return None
    if isinstance(path, Const) and isinstance(path.value, str):
        return (text,), make(JsonPath(path.value))
    return (text, path), json.PathOfRow(make, JsonPath)


def _calling(function: object) -> Emit:
    """Return the emitter of a call of an object; None is passed on if the first argument is None."""

    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        names = [generator.value(argument) for argument in call.arguments]
        code = f"{generator.known('json', function)}({', '.join(names)})"
        return generator.put(f"None if {names[0]} is None else {code}" if call.arguments[0].nullable else code)

    return emit


def _value(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return JSON_VALUE(text, path, NULL of a type, word, value if empty, word, value if wrong)."""
    _, _, kind, on_empty, when_empty, on_error, when_error = arguments
    returned = STRING if isinstance(kind.type, t.NullType) else kind.type
    convert = _RETURNED.get(type(returned))
    others = [_default(item, returned, zone) for item in (when_empty, when_error)]
    given = [other for other in others if other is not None]
    if convert is None or len(given) < len(others):
        return None
    made = _at_path(arguments, partial(json.JsonValue, convert=convert, empty=_word(on_empty), error=_word(on_error)))
    if made is None:
        return None
    return Call(returned.nullable(), name, (*made[0], *given), _calling(made[1]), strict=False)


def _default(item: Expr, returned: t.DataType, zone: str) -> Expr | None:
    """Return a default as the returned type; a boolean becomes the text of JSON, unlike in a cast."""
    made = cast(item, returned, zone)
    if made is None or not isinstance(item.type, t.BooleanType) or not isinstance(returned, t.VarCharType):
        return made
    return Call(made.type, "LOWER", (made,), template("{0}.lower()"))


def _query(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return JSON_QUERY(text, path, NULL of a type, wrapper, word, word)."""
    _, _, kind, wrapper, empty, error = arguments
    returned = STRING if isinstance(kind.type, t.NullType) else kind.type
    listed = isinstance(returned, t.ArrayType)
    content = returned.element_type if isinstance(returned, t.ArrayType) else returned
    if not isinstance(content, t.VarCharType):
        return None
    if listed and "EMPTY_OBJECT" in {_word(empty), _word(error)}:
        return None
    of_path = partial(json.JsonQuery, wrapper=_word(wrapper), empty=_word(empty), error=_word(error), listed=listed)
    made = _at_path(arguments, of_path)
    return None if made is None else Call(returned.nullable(), name, made[0], _calling(made[1]), strict=False)


def _exists(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return JSON_EXISTS(text, path, word)."""
    made = _at_path(arguments, partial(json.JsonExists, error=_word(arguments[2]) if len(arguments) > 2 else "FALSE"))
    return None if made is None else Call(BOOLEAN, name, made[0], _calling(made[1]), strict=False)


def _is_json(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    (a,) = arguments
    kind = name.rpartition(" ")[2].replace("JSON", "VALUE")
    if not isinstance(a.type, (*TEXTS, t.NullType)):
        return None
    sign = "not " if "NOT" in name else ""
    code = structure(f"{sign}is_json({{0}}, {kind!r})")
    return Call(BOOLEAN.not_null(), name, (a,), code, strict=False)


# -- writing ----------------------------------------------------------------------------------------------------------

_WRITTEN = {"JSON_OBJECT", "JSON_ARRAY", "JSON"}
"""Functions whose results are JSON within JSON, not texts."""


def _write_value(argument: Expr) -> Expr | None:
    """Return the JSON of a value; None if there is none for its type."""
    if isinstance(argument, Call) and argument.name in _WRITTEN:
        return argument
    if isinstance(argument.type, t.NullType):
        return Const(STRING, None)
    if not is_writable(argument.type):
        return None
    kind = with_null(STRING, is_nullable(argument.type))
    if isinstance(argument.type, TEXTS):
        return Call(kind, "JSON_STRING", (argument,), template("json_text({0})"))

    def emit(generator: Generator, call: Call, names: Sequence[str]) -> str:  # noqa: ARG001 - one signature
        return f"{generator.known('json', writer)}({names[0]})"

    writer = JsonWriter(argument.type)
    return Call(kind, "JSON_STRING", (argument,), emit)


def _string(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    return _write_value(arguments[0])


def json_of_group(name: str, argument: Expr, zone: str) -> Expr | None:
    """Return what JSON_ARRAYAGG and JSON_OBJECTAGG collect: JSON of values, and pairs of texts and JSON.

    None means that there is no JSON for the values, or that a key is not text.
    """
    if name == "JSON_ARRAYAGG" or not isinstance(argument, Call):
        return _write_value(argument)
    key, value = argument.arguments
    made = _write_value(value)
    if made is None or not isinstance(key.type, TEXTS):
        return None
    return FUNCTIONS["ROW"].build("ROW", [key, made], zone)


def _parse(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return JSON(text): the document itself within JSON_OBJECT and JSON_ARRAY."""
    if len(arguments) != 1 or not isinstance(arguments[0].type, TEXTS):
        return None
    kind = with_null(STRING, is_nullable(arguments[0].type))
    return Call(kind, name, tuple(arguments), template("written(document({0}))"))


def _object(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return JSON_OBJECT(word, key, value, ...)."""
    handling, *others = arguments
    keys, values = others[::2], [_write_value(other) for other in others[1::2]]
    given = [item for item in values if item is not None]
    if len(given) < len(keys) or not all(isinstance(key, Const) and isinstance(key.value, str) for key in keys):
        return None
    members = {str(item.value): value for item, value in zip(keys, given, strict=True) if isinstance(item, Const)}
    names = sorted(members)
    heads = [f"{json.json_text(item)}:" for item in names]
    return Call(
        STRING.not_null(),
        name,
        tuple(members[item] for item in names),
        _joining("{}", heads, _word(handling)),
        strict=False,
    )


def _array(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return JSON_ARRAY(word, value, ...)."""
    handling, *others = arguments
    given = [item for item in map(_write_value, others) if item is not None]
    if len(given) < len(others):
        return None
    heads = [""] * len(given)
    return Call(STRING.not_null(), name, tuple(given), _joining("[]", heads, _word(handling)), strict=False)


def _joining(brackets: str, heads: Sequence[str], handling: str) -> Emit:
    """Return the emitter of an object or array of texts of JSON; ``heads`` are the keys with their colons."""

    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        parts: list[str] = []
        for head, item in zip(heads, call.arguments, strict=True):
            value = generator.value(item)
            absent = "None" if handling == "ABSENT" else repr(f"{head}null")
            code = f"{head!r} + {value}" if head else value
            parts.append(absent if value == "None" else f"({absent} if {value} is None else {code})")
        return f"({brackets[0]!r} + json_joined([{', '.join(parts)}]) + {brackets[1]!r})"

    return emit


for _kind in ("", " VALUE", " OBJECT", " ARRAY", " SCALAR"):
    for _name in (f"IS JSON{_kind}", f"IS NOT JSON{_kind}"):
        FUNCTIONS[_name] = Function(_name, ("S",), _is_json, "(STRING)")
for _name, _takes, _build in (
    ("JSON_VALUE", "(STRING, path)", _value),
    ("JSON_QUERY", "(STRING, path)", _query),
    ("JSON_EXISTS", "(STRING, path)", _exists),
    ("JSON_STRING", "(any but an interval)", _string),
    ("JSON", "(STRING)", _parse),
    ("JSON_OBJECT", "(KEY literal VALUE any, ...)", _object),
    ("JSON_ARRAY", "(any, ...)", _array),
):
    FUNCTIONS[_name] = Function(_name, (), _build, _takes)
define("JSON_QUOTE", "S", STRING, "json_quoted({0})")
define("JSON_UNQUOTE", "S", STRING, "json_unquoted({0})")
