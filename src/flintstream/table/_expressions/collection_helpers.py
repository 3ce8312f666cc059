"""Functions on arrays and maps that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

from itertools import chain
from typing import Any

from flintstream.common.types import _make_row
from flintstream.table._expressions.text_helpers import checked


def distinct(values: list[object]) -> list[object]:
    """Keep the first of equal elements; they may be arrays and so have no hash."""
    found: list[object] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def array_slice(values: list[object], start: int, end: int | None = None) -> list[object]:
    """Return the elements from one position to another, both counted from 1, or from the end if negative."""
    size = len(values)
    first = max(start - 1, 0) if start >= 0 else max(size + start, 0)
    last = size if end is None else max(end, 1) if end >= 0 else size + end + 1
    return values[first : max(last, 0)]


def array_sort(values: list[Any], ascending: bool = True, nulls_first: bool | None = None) -> list[object]:
    """Sort; None comes first if the order is ascending, unless told otherwise."""
    known = sorted((value for value in values if value is not None), reverse=not ascending)
    empty = [None] * (len(values) - len(known))
    return [*empty, *known] if (ascending if nulls_first is None else nulls_first) else [*known, *empty]


def array_position(values: list[object], wanted: object) -> int:
    """Return where an element is, counted from 1; 0 if nowhere."""
    return values.index(wanted) + 1 if wanted in values else 0


def array_join(values: list[Any], separator: str, instead: str | None = None) -> str:
    """Join texts; None is left out, or replaced."""
    parts = [instead if value is None else value for value in values]
    checked(len(parts) * max(len(separator), len(instead or "")), "ARRAY_JOIN")
    return separator.join([part for part in parts if part is not None])


def known(values: list[object]) -> list[Any]:
    """Return the elements that are not None."""
    return [value for value in values if value is not None]


def only(values: list[object]) -> object:
    """Return the only element; None of an empty array.

    Raises:
        ValueError: There are more.
    """
    if len(values) > 1:
        raise ValueError("ELEMENT takes an array with one element")
    return values[0] if values else None


def map_of(keys: list[object], values: list[object]) -> dict[object, object]:
    """Return the map of keys and values.

    Raises:
        ValueError: Their numbers differ.
    """
    if len(keys) != len(values):
        raise ValueError(f"MAP_FROM_ARRAYS takes as many keys as values, but got {len(keys)} and {len(values)}")
    return dict(zip(keys, values, strict=True))


def map_union(*maps: dict[object, object]) -> dict[object, object]:
    """Return all entries; the last one of a key counts, and the last map comes first."""
    found: dict[object, object] = {}
    for item in reversed(maps):
        found = {**found, **{key: value for key, value in item.items() if key not in found}}
    return found


def map_entries(given: dict[object, object]) -> list[object]:
    """Return a row for each entry."""
    return [_make_row(("key", "value"), [key, value]) for key, value in given.items()]


def array_concat(*arrays: list[object]) -> list[object]:
    """Return all elements, one array after the other."""
    return list(chain.from_iterable(arrays))
