"""Types and rows of a DataFrame of pandas, as PyFlink takes them from Arrow."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError
from flintstream.table._plan.stream_types import infer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


def schema_of_frame(frame: Any, names: Sequence[str]) -> t.RowType:
    """Return the row type of a DataFrame.

    Raises:
        SqlError: The values of a column do not tell its type.
    """
    columns = [(name, frame.iloc[:, i]) for i, name in enumerate(names)]
    return t.RowType([t.RowField(name, _type_of_series(series, name)) for name, series in columns])


def rows_of_frame(frame: Any, schema: t.RowType) -> list[tuple[object, ...]]:
    """Return the rows in Python's values; what is missing is None."""
    kinds = schema.field_types()
    columns = [[_value(item, kind) for item in frame.iloc[:, i]] for i, kind in enumerate(kinds)]
    return list(zip(*columns, strict=True)) if columns else [()] * len(frame)


def _type_of_series(series: Any, name: str) -> t.DataType:
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


def _is_missing(value: Any) -> bool:
    return value is None or str(value) in {"NaT", "<NA>"} or (isinstance(value, float) and value != value)  # noqa: PLR0124


def _type_of_values(values: Sequence[Any], name: str) -> t.DataType:
    """Return the type of a column of objects by all of its values."""
    lists = [value for value in values if isinstance(value, (list, tuple)) or hasattr(value, "tolist")]
    if values and len(lists) == len(values) and not hasattr(values[0], "item"):
        return t.ArrayType(_type_of_values([item for value in lists for item in _present(value)], name))
    arrays = [value for value in values if getattr(value, "ndim", 0)]
    if values and len(arrays) == len(values):
        known = _DTYPES.get(str(values[0].dtype))
        items = [item for value in arrays for item in _present(value.tolist())]
        return t.ArrayType(known if known is not None else _type_of_values(items, name))
    if values and all(isinstance(value, dict) for value in values):
        keys = list(dict.fromkeys(key for value in values for key in value))
        parts = [[value[key] for value in values if not _is_missing(value.get(key))] for key in keys]
        fields = [t.RowField(str(key), _type_of_values(part, name)) for key, part in zip(keys, parts, strict=True)]
        return t.RowType(fields)
    if values and all(isinstance(value, Decimal) for value in values):
        scale = max(0, *(-int(value.as_tuple().exponent) for value in values))
        whole = max(1, *(value.adjusted() + 1 for value in values))
        return t.DataTypes.DECIMAL(min(whole + scale, 38), min(scale, 38))
    if values and type(values[0]).__name__ == "time":
        return t.TimeType(6)
    if not values:
        raise SqlError(
            f"the type of column '{name}' cannot be inferred, as it has no value: pass a DataTypes.ROW([...]) to "
            "from_pandas()"
        )
    plain = values[0].item() if hasattr(values[0], "item") else values[0]
    return infer([(plain,)], [name]).field_types()[0]


def _value(value: Any, kind: t.DataType) -> object:
    """Return a value of pandas as Python's."""
    if _is_missing(value):
        return None
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, datetime) and value.tzinfo is not None and isinstance(kind, t.TimestampType):
        return value.astimezone(timezone.utc).replace(tzinfo=None)
    if isinstance(kind, t.ArrayType):
        return [_value(item, kind.element_type) for item in (value.tolist() if hasattr(value, "tolist") else value)]
    if isinstance(kind, t.RowType) and isinstance(value, dict):
        return tuple(_value(value.get(name), part) for name, part in zip(kind.names, kind.field_types(), strict=True))
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(kind, t.DecimalType) and isinstance(plain, int):
        return Decimal(plain)
    return plain
