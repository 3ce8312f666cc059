"""Types of Python values: what ``from_elements`` infers where it gets no types."""

from __future__ import annotations

import array
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common._types.user_defined import UserDefinedType
from flintstream.common.types import Row
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

D = t.DataTypes
_SIMPLE: tuple[tuple[type | tuple[type, ...], t.DataType], ...] = (
    (bool, D.BOOLEAN()),
    (int, D.BIGINT()),
    (float, D.DOUBLE()),
    (str, D.STRING()),
    ((bytes, bytearray), D.BYTES()),
    (Decimal, D.DECIMAL(38, 18)),
    (datetime, D.TIMESTAMP_LTZ(6)),
    (date, D.DATE()),
    (time, D.TIME()),
)
_PLAIN = frozenset({type(None), bool, int, float, str, bytes, bytearray, Decimal, datetime, date, time})
"""Types whose values all have one type in a table."""
_INTEGERS = ((1, D.TINYINT), (2, D.SMALLINT), (4, D.INT), (8, D.BIGINT))
"""The types of whole numbers by their bytes."""


def infer_schema(elements: Sequence[object], names: Sequence[object] = ()) -> t.RowType:
    """Return the row type of elements: rows, tuples, lists, dicts, or objects with attributes; others are one value.

    Names are those of the elements, if they have some, otherwise the given ones, or ``_1``, ``_2``, ... A DataType in
    place of a name is the type of its column.

    Raises:
        PlanError: A column has no value that tells its type.
        TypeError: The values of a column have different types, or one that tables do not have.

    >>> infer_schema([(1, None), (2, "pear")], ["id"])
    RowType(RowField(id, BigIntType(true), ...),RowField(_2, VarCharType(2147483647, true), ...))
    """
    if not elements:
        return t.RowType([t.RowField(str(name), D.NULL()) for name in names])
    schema = reduce(_merge_rows, (_row_type(element, names) for element in _of_different_types(elements)))
    for field in schema.fields:
        if _is_unknown(field.data_type):
            raise PlanError(
                f"the type of column '{field.name}' cannot be inferred from its values: pass a DataTypes.ROW([...]) to "
                "from_elements()"
            )
    return schema


def infer_type(value: object) -> t.DataType:
    """Return the type of a value; of None that of NULL.

    Raises:
        TypeError: Tables do not have such values.

    >>> infer_type({"a": [1]})
    MapType(VarCharType(2147483647, false), ArrayType(BigIntType(true), true), true)
    """
    if value is None:
        return D.NULL()
    own = getattr(value, "__UDT__", None)
    if isinstance(own, UserDefinedType):
        return own
    for kind, found in _SIMPLE:
        if isinstance(value, kind):
            return found
    if isinstance(value, array.array):
        return t.ArrayType(_element_type(value).not_null())
    if isinstance(value, Mapping):
        pairs = ((key, content) for key, content in value.items() if key is not None and content is not None)
        key, content = next(pairs, (None, None))
        return t.MapType(infer_type(key).not_null(), infer_type(content))
    if isinstance(value, list):
        return t.ArrayType(infer_type(next((item for item in value if item is not None), None)))
    pairs_of_fields = named_fields(value)
    if pairs_of_fields is not None:
        return _row_of(pairs_of_fields)
    if isinstance(value, (tuple, Row)):
        return _row_of((f"_{i}", item) for i, item in enumerate(value, 1))
    raise TypeError(f"{value!r} has the type {type(value).__name__}, which tables do not support: convert it")


def merge_types(one: t.DataType, other: t.DataType, place: str = "") -> t.DataType:
    """Return the type of values of both types: NULL is of each type, rows may have further fields.

    Raises:
        TypeError: The types are different.

    >>> merge_types(D.NULL(), D.BIGINT())
    BigIntType(true)
    """
    if isinstance(one, t.NullType):
        return other
    if isinstance(other, t.NullType):
        return one
    if type(one) is not type(other):
        raise _conflict(place, type(one).__name__, type(other).__name__)
    if isinstance(one, t.RowType) and isinstance(other, t.RowType):
        return _merge_rows(one, other, place)
    if isinstance(one, t.ArrayType) and isinstance(other, t.ArrayType):
        return t.ArrayType(merge_types(one.element_type, other.element_type, _within("element in array", place)))
    if isinstance(one, t.MapType) and isinstance(other, t.MapType):
        return t.MapType(
            merge_types(one.key_type, other.key_type, _within("key of map", place)),
            merge_types(one.value_type, other.value_type, _within("value of map", place)),
        )
    return one


def named_fields(value: object) -> list[tuple[str, object]] | None:
    """Return the names and values of a dict, a named row or tuple, or an object with attributes; None of others."""
    if isinstance(value, Mapping):
        return sorted((str(name), item) for name, item in value.items())
    if isinstance(value, (tuple, list, Row)):
        names = getattr(value, "_fields", None)
        return None if names is None else list(zip(names, value, strict=False))
    attributes = None if callable(value) or hasattr(value, "__UDT__") else getattr(value, "__dict__", None)
    return sorted(attributes.items()) if isinstance(attributes, dict) else None


def _of_different_types(elements: Sequence[object]) -> Iterator[object]:
    """Yield elements, but of tuples whose values have the same simple types only the first."""
    seen: set[tuple[type, ...]] = set()
    for element in elements:
        if type(element) is tuple:
            types = tuple(map(type, element))
            if types in seen:
                continue
            if _PLAIN.issuperset(types):
                seen.add(types)
        yield element


def _row_type(element: object, names: Sequence[object]) -> t.RowType:
    pairs = named_fields(element)
    if pairs is not None and not (names and isinstance(element, Row)):
        return _row_of(pairs)
    values = element if isinstance(element, (tuple, list, Row)) else [element]
    given = [*names[: len(values)], *(f"_{i + 1}" for i in range(len(names), len(values)))]
    fields = []
    for i, (name, value) in enumerate(zip(given, values, strict=True), 1):
        if isinstance(name, t.DataType):
            fields.append(t.RowField(f"_{i}", name))
        else:
            fields.append(t.RowField(str(name), infer_type(value)))
    return t.RowType(fields)


def _row_of(pairs: Iterable[tuple[str, object]]) -> t.RowType:
    return t.RowType([t.RowField(name, infer_type(item)) for name, item in pairs])


def _element_type(values: array.array[int] | array.array[float] | array.array[str]) -> t.DataType:
    """Return the type of the elements of an array; unsigned numbers get the next wider one."""
    code, size = values.typecode, values.itemsize
    if code in "fd":
        return D.FLOAT() if code == "f" else D.DOUBLE()
    if code == "u":
        return D.CHAR(1)
    needed = size if code.islower() else size + 1
    wide = next((kind for width, kind in _INTEGERS if width >= needed), None)
    if wide is None or code in "qQ":
        raise TypeError(f"tables do not support array.array('{code}'): convert it to a list")
    return wide()


def _merge_rows(one: t.RowType, other: t.RowType, place: str = "") -> t.RowType:
    others = {field.name: field.data_type for field in other.fields}
    fields = []
    for field in one.fields:
        where = _within(f"field {field.name}", place)
        if field.name not in others:
            raise _conflict(where, type(field.data_type).__name__, "no value")
        fields.append(t.RowField(field.name, merge_types(field.data_type, others[field.name], where)))
    known = {field.name for field in fields}
    return t.RowType([*fields, *(field for field in other.fields if field.name not in known)])


def _conflict(place: str, one: str, other: str) -> TypeError:
    where = f"{place}: " if place else ""
    return TypeError(f"{where}{one} and {other} cannot be merged: convert the values, or pass a DataTypes.ROW([...])")


def _within(part: str, place: str) -> str:
    return f"{part} in {place}" if place and part.startswith("field") else f"{part} {place}".rstrip()


def _is_unknown(kind: t.DataType) -> bool:
    """Return whether NULL is all that is known of a type, or of a part of it."""
    if isinstance(kind, t.RowType):
        return any(_is_unknown(field.data_type) for field in kind.fields)
    if isinstance(kind, t.ArrayType):
        return _is_unknown(kind.element_type)
    if isinstance(kind, t.MapType):
        return _is_unknown(kind.key_type) or _is_unknown(kind.value_type)
    return isinstance(kind, t.NullType)
