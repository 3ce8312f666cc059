"""Rows of dicts, named tuples and sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_SCALARS = (str, bytes, bytearray, memoryview)


def check_names(names: object) -> list[str]:
    """Return the names of columns.

    Raises:
        TypeError: They are not list of texts.
        ValueError: There are none, or one is empty or there twice.
    """
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError("schema must be a list of strings")
    if not names:
        raise ValueError("schema must not be empty")
    if not all(names):
        raise ValueError("schema field names must not be empty")
    if len(set(names)) != len(names):
        raise ValueError("schema field names must be unique")
    return names


def _is_sequence(record: object) -> bool:
    return isinstance(record, Sequence) and not isinstance(record, _SCALARS)


def _kind_of(record: object) -> str:
    if isinstance(record, tuple) and isinstance(getattr(record, "_fields", None), tuple):
        return "named tuple"
    if isinstance(record, Mapping):
        return "mapping"
    if _is_sequence(record):
        return "sequence"
    raise TypeError("record must be a mapping or a sequence of values, such as a list or tuple")


def _fields_of(record: object) -> list[str]:
    return list(record) if isinstance(record, Mapping) else list(getattr(record, "_fields", ()))


def rows_of_records(data: Sequence[object], schema: object) -> tuple[list[tuple[object, ...]], list[str]]:
    """Return rows and the names of their columns.

    >>> rows_of_records([{"id": 1, "name": "ann"}], ["name"])
    ([('ann',)], ['name'])

    Raises:
        TypeError: A row is of another kind than the first one.
        ValueError: A row has other fields, or the names are missing.
    """
    try:
        kind = _kind_of(data[0])
    except TypeError as error:
        raise TypeError(f"each {error}; invalid record at index 0") from error
    if kind == "sequence" and schema is None:
        raise ValueError("schema is required for sequence records")
    names = check_names(_fields_of(data[0]) if schema is None else schema)
    exact = kind == "sequence" or schema is None
    rows = []
    for i, record in enumerate(data):
        try:
            rows.append(_row_of(record, kind, names, exact=exact))
        except (TypeError, ValueError) as error:
            raise type(error)(_message(i, str(error), kind, record, inferred=schema is None)) from error
    return rows, names


def _message(number: int, text: str, kind: str, record: object, *, inferred: bool) -> str:
    """Return an error about a row with its number."""
    if kind == "sequence" and not _is_sequence(record):
        return f"each record must be a sequence of values, such as a list or tuple; invalid record at index {number}"
    if inferred and not text.startswith("record must"):
        text = "record must have the same fields as schema"
    return f"invalid record at index {number}: {text.replace('record', f'record at index {number}', 1)}"


def _row_of(record: object, kind: str, names: list[str], *, exact: bool) -> tuple[object, ...]:
    try:
        own = _kind_of(record)
    except TypeError:
        own = ""
    if own != kind and (kind, own) != ("sequence", "named tuple"):
        raise TypeError(f"record must be a {kind}")
    if kind == "sequence" and isinstance(record, Sequence):
        if len(record) != len(names):
            raise ValueError(f"record has {len(record)} values but schema has {len(names)} fields")
        return tuple(record)
    fields = _fields_of(record)
    for name in names:
        if name not in fields:
            raise ValueError(f"record is missing schema field {name!r}")
    if exact and len(fields) != len(names):
        raise ValueError(f"record has fields not present in schema: {[f for f in fields if f not in names]!r}")
    if isinstance(record, Mapping):
        return tuple(record[name] for name in names)
    return tuple(getattr(record, name) for name in names)
