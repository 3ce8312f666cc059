"""Types parsed from their text in a savepoint."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    LocalTimeTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    Types,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common.typeinfo import TypeInformation

_PLAIN: dict[str, Callable[[], TypeInformation]] = {
    **{basic.value: partial(BasicTypeInfo, basic) for basic in BasicType},
    **{f"LocalTimeTypeInfo<{time.name}>": partial(LocalTimeTypeInfo, time) for time in LocalTimeTypeInfo.TimeType},
    "Instant": Types.INSTANT,
    "DateTypeInfo": Types.SQL_DATE,
    "TimeTypeInfo": Types.SQL_TIME,
    "TimestampTypeInfo": Types.SQL_TIMESTAMP,
    "PickledByteArrayTypeInfo": Types.PICKLED_BYTE_ARRAY,
}

_SEQUENCES: dict[str, Callable[[TypeInformation], TypeInformation]] = {
    "ListTypeInfo": Types.LIST,
    "PrimitiveArrayTypeInfo": PrimitiveArrayTypeInfo,
    "BasicArrayTypeInfo": BasicArrayTypeInfo,
    "ObjectArrayTypeInfo": ObjectArrayTypeInfo,
}

_COMPOSITE = re.compile(r"(\w+)[(<](.*)[)>]", re.DOTALL)
_FIELD = re.compile(r"([^:<(]+): (.*)", re.DOTALL)


def parse_type(text: str) -> TypeInformation | None:
    """Return the type whose ``str`` is ``text``, or None if no type has it, or it is ambiguous.

    >>> parse_type("ListTypeInfo<TupleTypeInfo(Integer, String)>")
    ListTypeInfo<TupleTypeInfo(Integer, String)>
    """
    parsed = _parse(text.strip())
    return parsed if parsed is not None and str(parsed) == text else None  # a field may be named "a: Long, b"


def _parse(text: str) -> TypeInformation | None:
    if text in _PLAIN:
        return _PLAIN[text]()
    found = _COMPOSITE.fullmatch(text)
    if found is None:
        return None
    name, inside = found.groups()
    parts = _split(inside)
    if name == "RowTypeInfo":
        return _row(parts)
    types = [item for item in map(_parse, parts) if item is not None]
    if len(types) != len(parts):
        return None
    if name == "TupleTypeInfo":
        return Types.TUPLE(types)
    if name == "MapTypeInfo" and len(types) == 2:
        return Types.MAP(*types)
    return _SEQUENCES[name](types[0]) if name in _SEQUENCES and len(types) == 1 else None


def _row(parts: Sequence[str]) -> TypeInformation | None:
    fields = [_FIELD.fullmatch(part) for part in parts]
    names = [field.group(1) for field in fields if field is not None]
    types = [_parse(part if field is None else field.group(2)) for part, field in zip(parts, fields, strict=True)]
    known = [kind for kind in types if kind is not None]
    if len(known) != len(parts) or len(names) not in {0, len(parts)} or len(set(names)) != len(names):
        return None
    return Types.ROW_NAMED(names, known) if names else Types.ROW(known)


def _split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "(<") - (char in ")>")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
