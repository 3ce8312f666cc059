"""Keys and values of state as JSON, for people and scripts."""

from __future__ import annotations

import base64
import enum
from dataclasses import fields, is_dataclass
from typing import Any

from flintstream.checkpoint.codec import Opaque
from flintstream.common._text.strict_json import json_text
from flintstream.common.types import Row
from flintstream.contracts.window import CountWindow, GlobalWindow, TimeWindow
from flintstream.errors import shorten

_MAX_REPR = 1000


def to_json(value: Any) -> str:
    """Return any value as JSON on one line.

    Tuples, sets and unnamed rows become arrays. Named rows, windows, data classes and dicts become objects, except
    dicts with keys other than strings, which become arrays of pairs. Bytes are in base 64, dates in ISO 8601, decimals
    as strings. Integers of more than 19 digits become strings, too. A pickled value that was not read becomes
    ``{"pickled": <number of bytes>}``. All other values become their ``repr``.

    >>> to_json(("a", {1: 2.0}))
    '["a", [[1, 2.0]]]'
    """
    return json_text(_plain(value), ascii_only=False)


def _plain(value: Any) -> Any:
    if value is None or type(value) in {bool, str}:
        return value
    if type(value) is int:
        return value
    if isinstance(value, float):
        return float(value) if value - value == 0 else str(value)  # JSON has no infinity and no NaN
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Opaque):
        return {"pickled": len(value.data)}
    if isinstance(value, TimeWindow):
        return {"start": value.start, "end": value.end}
    if isinstance(value, CountWindow):
        return {"window": value.id}
    if isinstance(value, GlobalWindow):
        return {"window": "global"}
    if isinstance(value, Row):
        return _plain(value.as_dict() if value._field_names else list(value))
    if isinstance(value, dict):
        if all(type(key) is str for key in value):
            return {key: _plain(item) for key, item in value.items()}
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    return _other(value)


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return _plain(int(value))
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value), key=json_text)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return _plain(value.item())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "as_tuple"):  # Decimal
        return str(value)
    try:
        items = list(value)
    except TypeError:
        return shorten(value, _MAX_REPR)
    return list(map(_plain, items))
