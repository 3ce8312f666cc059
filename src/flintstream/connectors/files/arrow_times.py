"""Timestamps in arrays of Arrow, also within lists, maps and structs, with the digits of another type."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flintstream.connectors.files.arrow_values import arrow

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyarrow import Array, DataType

_UNITS = {"s": "second", "ms": "millisecond", "us": "microsecond", "ns": "nanosecond"}
_ORDER = tuple(_UNITS)


def cast_times(array: Array, wanted: DataType) -> Array:
    """Return an array in a type, without the digits that its timestamps do not have.

    Digits are cut as ``datetime`` would be, towards the past. Arrow cuts towards 1970, or refuses.

    >>> pa = arrow()
    >>> cast_times(pa.array([-1, 1_999], pa.timestamp("us")), pa.timestamp("ms")).cast("int64").to_pylist()
    [-1, 1]

    Raises:
        ArrowException: A value does not fit.
    """
    if array.type == wanted:
        return array
    found = cut_times(array, wanted)
    return found if found.type == wanted else found.cast(wanted)


def cut_times(array: Array, wanted: DataType) -> Array:
    """Return an array whose timestamps have no zone, and no more digits than those of a type, which may have more.

    >>> pa = arrow()
    >>> cut_times(pa.array([1_999], pa.timestamp("us", "UTC")), pa.timestamp("ms")).type
    TimestampType(timestamp[ms])
    >>> cut_times(pa.array([1], pa.timestamp("s")), pa.timestamp("ns")).type
    TimestampType(timestamp[s])
    """
    return change_times(array, wanted, _cut)


def change_times(array: Array, wanted: DataType, change: Callable[[Array, DataType], Array]) -> Array:
    """Return an array in which a function has changed those that hold timestamps, as it does for those of a type.

    >>> pa = arrow()
    >>> given = pa.array([[1, None], None, []], pa.list_(pa.timestamp("s")))
    >>> change_times(given, given.type, lambda times, _: times.cast("int64")).to_pylist()
    [[1, None], None, []]
    """
    pa, kind = arrow(), array.type
    if pa.types.is_timestamp(kind):
        return change(array, wanted)
    if not _holds_times(kind):
        return array
    if _are(pa.types.is_struct, kind, wanted) and [f.name for f in kind] == [f.name for f in wanted]:
        fields = zip(array.flatten(), wanted, strict=True)
        parts = [change_times(part, field.type, change) for part, field in fields]
        return pa.StructArray.from_arrays(parts, names=[field.name for field in kind], mask=array.is_null())
    if _are(pa.types.is_map, kind, wanted):
        keys = change_times(array.keys, wanted.key_type, change)
        return pa.MapArray.from_arrays(_offsets(array), keys, change_times(array.items, wanted.item_type, change))
    if _are(pa.types.is_list, kind, wanted):
        return pa.ListArray.from_arrays(_offsets(array), change_times(array.values, wanted.value_type, change))
    return array  # of a type with another form, which Arrow casts, or refuses


def _are(has_form: Callable[[DataType], bool], kind: DataType, wanted: DataType) -> bool:
    return has_form(kind) and has_form(wanted)


def _holds_times(kind: DataType) -> bool:
    if arrow().types.is_timestamp(kind):
        return True
    if kind.num_fields == 0:
        return False
    return any(_holds_times(kind.field(i).type) for i in range(kind.num_fields))


def _offsets(array: Array) -> Array:
    """Return where values begin, NULL for those that are NULL, and where the last one ends."""
    pa, count = arrow(), len(array)
    begins = _compute().if_else(array.is_valid(), array.offsets.slice(0, count), pa.scalar(None, pa.int32()))
    return pa.concat_arrays([begins, array.offsets.slice(count)])


def _compute() -> Any:
    return importlib.import_module("pyarrow.compute")


def _cut(array: Array, wanted: DataType) -> Array:
    unit = array.type.unit
    if array.type.tz is not None:
        array = array.cast(arrow().timestamp(unit))
    if not arrow().types.is_timestamp(wanted) or _ORDER.index(unit) <= _ORDER.index(wanted.unit):
        return array
    floor = _compute().floor_temporal(array, 1, _UNITS[wanted.unit])
    return floor.cast(arrow().timestamp(wanted.unit))
