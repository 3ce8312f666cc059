"""Column types of Parquet and ORC files, and their rows."""

from __future__ import annotations

import copy
import time
from datetime import timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common.types import Row
from flintstream.connectors.files.arrow_values import arrow, change_times
from flintstream.errors import PlanError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from pyarrow import Array, DataType, RecordBatch

    from flintstream.common.configuration import Configuration


def pyarrow(extra: str, purpose: str) -> Any:
    """Return the module ``pyarrow``.

    Raises:
        MissingDependencyError: pyarrow is not installed.
    """
    return optional_module("pyarrow", extra=extra, purpose=purpose)


def time_shift(data_type: t.DataType, change: Callable[[datetime], datetime]) -> Callable[[Any], Any] | None:
    """Return a function that changes all timestamps in a value; None if the type has no timestamps."""
    if isinstance(data_type, t.TimestampType):
        return lambda value: None if value is None else change(value)
    if isinstance(data_type, t.ArrayType):
        element = time_shift(data_type.element_type, change)
        return element and (lambda value: None if value is None else [element(part) for part in value])
    if isinstance(data_type, t.MapType):
        key = time_shift(data_type.key_type, change) or _same
        item = time_shift(data_type.value_type, change) or _same
        if key is item:
            return None
        return lambda value: None if value is None else {key(name): item(part) for name, part in value.items()}
    if isinstance(data_type, t.RowType):
        shifts = [(place, time_shift(kind, change)) for place, kind in enumerate(data_type.field_types())]
        present = [(place, shift) for place, shift in shifts if shift is not None]
        return (lambda row: _shift_fields(row, present)) if present else None
    return None


def _same(value: Any) -> Any:
    return value


def _shift_fields(row: Any, shifts: list[tuple[int, Callable[[Any], Any]]]) -> Any:
    if row is None:
        return None
    shifted = copy.copy(row) if isinstance(row, Row) else list(row)
    for place, shift in shifts:
        shifted[place] = shift(shifted[place])
    return shifted


def shift_batch(change: Callable[[datetime], datetime], batch: RecordBatch) -> RecordBatch:
    """Return a batch whose timestamps without a zone are changed."""
    columns = [change_times(column, column.type, partial(_shift_array, change)) for column in batch.columns]
    return arrow().RecordBatch.from_arrays(columns, schema=batch.schema)


def _shift_array(change: Callable[[datetime], datetime], array: Array, _: DataType) -> Array:
    if array.type.tz is not None:
        return array
    return arrow().array([None if value is None else change(value) for value in array.to_pylist()], array.type)


def is_local_time_utc() -> bool:
    """Tell whether the local time zone always equals UTC."""
    return time.timezone == 0 and not time.daylight


def local_to_utc(value: datetime) -> datetime:
    """Convert naive local time to naive UTC."""
    return value.astimezone(timezone.utc).replace(tzinfo=None)


def utc_to_local(value: datetime) -> datetime:
    """Convert naive UTC to naive local time."""
    return value.replace(tzinfo=timezone.utc).astimezone().replace(tzinfo=None)


def properties(*configurations: Configuration | None) -> dict[str, str]:
    """Merge the settings of configurations; later ones win."""
    found: dict[str, str] = {}
    for configuration in configurations:
        if configuration is not None:
            found.update({key: str(value) for key, value in configuration.to_dict().items()})
    return found


def choice(found: dict[str, str], key: str, allowed: dict[str, str], default: str) -> str:
    """Return the meaning of a property's value.

    Raises:
        PlanError: The value is not allowed.
    """
    value = found.get(key, default).lower()
    if value not in allowed:
        raise PlanError(f"{key} must be one of {', '.join(sorted(allowed))}, but got {found[key]!r}")
    return allowed[value]


def positive(found: dict[str, str], key: str, default: int) -> int:
    """Return the value of a numeric property.

    Raises:
        PlanError: The value is not a positive number.
    """
    text = found.get(key, str(default))
    if not text.isdigit() or int(text) < 1:
        raise PlanError(f"{key} must be a positive number, but got {text!r}")
    return int(text)
