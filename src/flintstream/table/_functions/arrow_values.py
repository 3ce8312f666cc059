"""Values of columns as pandas gets them of Arrow: arrays of numpy, rows as dictionaries, timestamps with a unit."""

from __future__ import annotations

from datetime import timezone
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    Converter = Callable[[Any], Any]

DTYPES: dict[type, str] = {
    t.TinyIntType: "int8",
    t.SmallIntType: "int16",
    t.IntType: "int32",
    t.BigIntType: "int64",
    t.FloatType: "float32",
    t.DoubleType: "float64",
    t.BooleanType: "bool",
}


def time_unit(precision: int) -> str:
    """Return the unit of Arrow that holds a timestamp.

    >>> time_unit(0), time_unit(3), time_unit(6), time_unit(9)
    ('s', 'ms', 'us', 'ns')
    """
    return ("s", "ms", "us", "ns")[(precision + 2) // 3]


def dtype_of(kind: t.DataType) -> str:
    """Return the type that numpy has for the elements of an array.

    >>> dtype_of(t.IntType()), dtype_of(t.TimestampType(3)), dtype_of(t.VarCharType(5))
    ('int32', 'datetime64[ms]', 'object')
    """
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return f"datetime64[{time_unit(kind.precision)}]"
    return DTYPES.get(type(kind), "object")


def numpy_converter(kind: t.DataType) -> Converter | None:
    """Return what makes a value what pandas shows of it; None if it stays.

    >>> numpy_converter(t.ArrayType(t.IntType()))([1, 2])
    array([1, 2], dtype=int32)
    >>> numpy_converter(t.IntType()) is None
    True
    """
    if isinstance(kind, t.ArrayType):
        return _of_array(kind)
    if isinstance(kind, t.RowType):
        names = kind.names
        parts = [numpy_converter(part) or _same for part in kind.field_types()]
        return lambda row: None if row is None else {n: f(v) for n, f, v in zip(names, parts, row, strict=True)}
    return None


def series_of(pandas: Any, values: list[object], kind: t.DataType | None, otherwise: object = None) -> object:
    """Return values of a type as a ``Series``, of the same ``dtype`` as PyFlink's: integers with NULL are floats."""
    dtype = DTYPES.get(type(kind))
    if dtype is not None and any(value is None for value in values):
        dtype = dtype if dtype.startswith("float") else None if dtype == "bool" else "float64"
    return pandas.Series(values, dtype=dtype or otherwise)


def naive_utc(value: datetime | None) -> datetime | None:
    """Return a time with a zone as one of UTC without it.

    >>> from datetime import datetime
    >>> naive_utc(datetime(2026, 5, 17, tzinfo=timezone.utc))
    datetime.datetime(2026, 5, 17, 0, 0)
    """
    return None if value is None else value.astimezone(timezone.utc).replace(tzinfo=None)


def _same(value: object) -> object:
    return value


def _of_array(kind: t.ArrayType) -> Converter:
    import numpy as np

    inner, dtype = numpy_converter(kind.element_type), dtype_of(kind.element_type)
    instants = isinstance(kind.element_type, t.LocalZonedTimestampType)

    def convert(values: list[Any] | None) -> object:
        if values is None:
            return None
        if inner is not None or dtype == "object":
            found = np.empty(len(values), dtype=object)
            found[:] = values if inner is None else [inner(value) for value in values]
            return found
        if instants:
            values = [
                None if value is None else value.astimezone(timezone.utc).replace(tzinfo=None) for value in values
            ]
        if None in values and not dtype.startswith("datetime64"):
            return np.array(values, dtype="object" if dtype == "bool" else "float64")
        return np.array(values, dtype=dtype)

    return convert
