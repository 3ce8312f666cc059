"""Types and rows of a pandas DataFrame, as PyFlink takes them from Arrow."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from math import isnan
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common._types.inference import infer_type
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pandas import DataFrame, Series

_DTYPES: dict[str, t.DataType] = {
    "int8": t.DataTypes.TINYINT(),
    "int16": t.DataTypes.SMALLINT(),
    "int32": t.DataTypes.INT(),
    "int64": t.DataTypes.BIGINT(),
    "uint8": t.DataTypes.SMALLINT(),
    "uint16": t.DataTypes.INT(),
    "uint32": t.DataTypes.BIGINT(),
    "uint64": t.DataTypes.DECIMAL(20, 0),
    "float16": t.DataTypes.FLOAT(),
    "float32": t.DataTypes.FLOAT(),
    "float64": t.DataTypes.DOUBLE(),
    "bool": t.DataTypes.BOOLEAN(),
    "boolean": t.DataTypes.BOOLEAN(),
}
"""By the names of columns' types, in lower case; PyFlink refuses unsigned integers and half floats."""


def schema_of_frame(frame: DataFrame, given: Sequence[str] | Sequence[t.DataType] | None = None) -> t.RowType:
    """Return the row type of a DataFrame, perhaps with other names or types than those of its columns.

    Raises:
        SqlError: The values of a column do not tell its type, or there are more or fewer types than columns.
    """
    own = [str(name) for name in frame.columns]
    types = [item for item in given or () if isinstance(item, t.DataType)]
    if types:
        if len(types) != len(own):
            raise SqlError(f"from_pandas() got {len(types)} types for {len(own)} columns: {', '.join(own)}")
        return t.RowType([t.RowField(*column) for column in zip(own, types, strict=True)])
    columns = [(name, frame.iloc[:, i]) for i, name in enumerate(own if given is None else map(str, given))]
    return t.RowType([t.RowField(name, _type_of_series(series, name)) for name, series in columns])


def rows_of_frame(frame: DataFrame, schema: t.RowType) -> list[tuple[object, ...]]:
    """Return the rows in Python's values; what is missing is None."""
    kinds = schema.field_types()
    for i, (name, kind) in enumerate(zip(schema.names, kinds, strict=True)):
        dtype = str(frame.iloc[:, i].dtype) if i < len(frame.columns) else ""
        if isinstance(kind, (t.CharType, t.VarCharType)) and dtype.lower() in _DTYPES:
            raise TypeError(f"from_pandas(): column '{name}': Expected a string or bytes dtype, got {dtype}")
    columns = [[_value(item, kind) for item in frame.iloc[:, i]] for i, kind in enumerate(kinds)]
    return list(zip(*columns, strict=True)) if columns else [()] * len(frame)


def _type_of_series(series: Series, name: str) -> t.DataType:
    word = str(series.dtype).lower()
    if word in _DTYPES:
        return _DTYPES[word]
    if word.startswith("datetime64[ns"):
        return t.DataTypes.TIMESTAMP(9)
    if word.startswith("datetime64"):
        return t.DataTypes.TIMESTAMP(6)
    if word.startswith(("string", "str")):
        return t.DataTypes.STRING()
    return _type_of_values(list(_present(series)), name)


def _present(values: Iterable[object]) -> Iterator[object]:
    return (value for value in values if not _is_missing(value))


def _is_missing(value: object) -> bool:
    return value is None or str(value) in {"NaT", "<NA>"} or (isinstance(value, float) and isnan(value))


def _type_of_values(values: Sequence[object], name: str) -> t.DataType:
    """Return the type of a column of objects by all of its values."""
    arrays = [getattr(value, "dtype", None) for value in values if getattr(value, "ndim", 0)]
    if values and len(arrays) == len(values):
        known = _DTYPES.get(str(arrays[0]))
        return t.ArrayType(known if known is not None else _type_of_values(_items(values), name))
    if values and all(isinstance(value, (list, tuple)) for value in values):
        return t.ArrayType(_type_of_values(_items(values), name))
    pairs = [value for value in values if isinstance(value, dict)]
    if values and len(pairs) == len(values):
        keys = list(dict.fromkeys(key for pair in pairs for key in pair))
        parts = [[pair[key] for pair in pairs if not _is_missing(pair.get(key))] for key in keys]
        fields = [t.RowField(str(key), _type_of_values(part, name)) for key, part in zip(keys, parts, strict=True)]
        return t.RowType(fields)
    decimals = [value for value in values if isinstance(value, Decimal)]
    if values and len(decimals) == len(values):
        scale = max(0, *(-int(value.as_tuple().exponent) for value in decimals))
        whole = max(1, *(value.adjusted() + 1 for value in decimals))
        return t.DataTypes.DECIMAL(min(whole + scale, 38), min(scale, 38))
    if values and type(values[0]).__name__ == "time":
        return t.TimeType(6)
    if not values:
        raise SqlError(
            f"the type of column '{name}' cannot be inferred, as it has no value: pass a DataTypes.ROW([...]) to "
            "from_pandas()"
        )
    value = _plain(values[0])
    return t.DataTypes.TIMESTAMP(6) if isinstance(value, datetime) else infer_type(value)


def _items(values: Iterable[object]) -> list[object]:
    """Return what is in lists or arrays of numpy."""
    return [item for value in values for item in _present(_list_of(value))]


def _list_of(value: object) -> Sequence[object]:
    if hasattr(value, "tolist"):
        found: list[object] = value.tolist()
        return found
    return value if isinstance(value, (list, tuple)) else [value]


def _plain(value: object) -> object:
    return value.item() if hasattr(value, "item") else value


def _value(value: object, kind: t.DataType) -> object:
    """Return a value of pandas as Python's."""
    if _is_missing(value):
        return None
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, datetime) and value.tzinfo is not None and isinstance(kind, t.TimestampType):
        return value.astimezone(timezone.utc).replace(tzinfo=None)
    if isinstance(kind, t.ArrayType):
        return [_value(item, kind.element_type) for item in _list_of(value)]
    if isinstance(kind, t.RowType) and isinstance(value, dict):
        return tuple(_value(value.get(name), part) for name, part in zip(kind.names, kind.field_types(), strict=True))
    plain = _plain(value)
    if isinstance(kind, t.DecimalType) and isinstance(plain, int):
        return Decimal(plain)
    return plain
