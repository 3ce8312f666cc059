"""What functions return, in the form of tables: rows of dicts, objects and tuples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from flintstream.common.types import Row
from flintstream.table.types import ArrayType, MapType, RowType

if TYPE_CHECKING:
    from flintstream.table.types import DataType


def _normalize_user_value(value: object, data_type: DataType) -> object:
    if value is None:
        return None
    if isinstance(data_type, RowType):
        names = data_type.field_names()
        parts = [_field(value, names, i) for i in range(len(names))]
        made = [_normalize_user_value(part, kind) for part, kind in zip(parts, data_type.field_types(), strict=True)]
        row = Row(*made)
        row.set_field_names(names)
        if isinstance(value, Row):
            row.set_row_kind(value.get_row_kind())
        return row
    if isinstance(data_type, ArrayType) and isinstance(value, Iterable):
        return [_normalize_user_value(item, data_type.element_type) for item in value]
    if isinstance(data_type, MapType):
        made_map = {}
        for key, item in _pairs(value, data_type):
            if key is None:
                raise TypeError(f"MapType keys must not be null for {data_type}.")
            name = _normalize_user_value(key, data_type.key_type)
            made_map[name] = _normalize_user_value(item, data_type.value_type)
        return made_map
    return value


def _pairs(value: object, data_type: DataType) -> list[tuple[object, object]]:
    wrong = TypeError(f"Expected a Mapping or iterable of key/value pairs for {data_type}, got {type(value).__name__}.")
    items = getattr(value, "items", None)
    found = items() if callable(items) else value
    if not isinstance(found, Iterable):
        raise wrong
    pairs = [item for item in found if isinstance(item, (tuple, list)) and len(item) == 2]
    if len(pairs) != len(list(found)):
        raise wrong
    return [(key, item) for key, item in pairs]


def _field(value: object, names: list[str], index: int) -> object:
    name = names[index]
    if isinstance(value, Mapping):
        return value.get(name)
    fields = getattr(value, "_fields", None)
    if isinstance(value, Row) and fields:
        if name not in fields:
            raise ValueError(f"Field name {name!r} does not exist in Row fields {fields}.")
        return value[name]
    if isinstance(value, (Row, tuple, list)):
        if len(value) != len(names):
            raise ValueError(f"Expected {len(names)} value(s) for RowType {names}, got {len(value)}.")
        return value[index]
    own = getattr(value, "__dict__", None)
    if isinstance(own, Mapping) and name in own:
        return own[name]
    if hasattr(type(value), name):  # a property, whose own errors are not hidden
        return getattr(value, name)
    if isinstance(own, Mapping):
        return None
    raise TypeError(
        f"Expected a Mapping, Row, tuple, list, or object with fields for RowType {names}, got {type(value).__name__}."
    )


def rows_of(found: object) -> Iterable[object]:
    """Return the rows that a table function returns for one: none, one, or those of a list or iterator."""
    if found is None:
        return ()
    if isinstance(found, (Row, tuple, Mapping, str, bytes, bytearray)) or not isinstance(found, Iterable):
        return (found,)
    return found
