"""Blocks of flat records as columns: what a compiled sender writes, see ``flintstream/compiled/_exchange.pyx``.

All numbers are little-endian. A block begins with 16 bytes: ``MAGIC``, the shape of its records (0: values, 1: tuples,
2: lists), the number of fields, the number of columns of timestamps (0 or 1), the number of records (4 bytes), the size
of ``rest`` (4 bytes), and 4 zeros. ``rest``, which the caller has pickled, and the columns follow. A column begins with
a letter:

* ``q``, whole numbers: the bytes of a number (0, 1, 2, 4 or 8), the lowest number (8 bytes, signed), and how far
  each number is above it.
* ``s``, strings: their lengths in the form of whole numbers, the sum of these (8 bytes), and the strings in UTF-8.
* ``t``, datetimes without a zone: microseconds since March 1st of the year 0, in the form of whole numbers.
* ``d``, floats: 8 bytes each.
* ``b``, booleans, and ``n``, NULLs, as tables have them in columns that no step reads: in the form of whole numbers.
"""

from __future__ import annotations

import struct
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from flintstream.compiled import load

if TYPE_CHECKING:
    from collections.abc import Callable

MAGIC = 0xC1
"""The first byte. A pickle begins with another one."""

_HEAD = struct.Struct("<4B3I")
_FIRST = datetime.fromordinal(1)
_BEFORE = 306 * 86_400_000_000
"""Microseconds from March 1st of the year 0 to that."""
_LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def unpack_in_python(payload: bytes, _as_columns: bool = False) -> tuple[list[Any], list[int] | None, bytes]:
    """Return the values, the timestamps, and the rest of a block."""
    _, shape, fields, stamped, rows, rest, _ = _HEAD.unpack_from(payload)
    at = _HEAD.size + rest
    columns = []
    for _ in range(fields + stamped):
        column, at = _column(payload, at, rows)
        columns.append(column)
    timestamps = columns.pop() if stamped else None
    if shape == 0:
        values = columns[0]
    else:
        values = list(zip(*columns, strict=True)) if shape == 1 else [list(item) for item in zip(*columns, strict=True)]
    return values, timestamps, payload[_HEAD.size : _HEAD.size + rest]


def _column(payload: bytes, at: int, rows: int) -> tuple[list[Any], int]:
    """Return a column and where it ends."""
    kind = payload[at : at + 1]
    if kind == b"d":
        return list(struct.unpack_from(f"<{rows}d", payload, at + 1)), at + 1 + 8 * rows
    width, lowest = struct.unpack_from("<Bq", payload, at + 1)
    at += 10
    if width:
        numbers = [lowest + above for above in struct.unpack_from(f"<{rows}{_LETTERS[width]}", payload, at)]
    else:
        numbers = [lowest] * rows
    at += width * rows
    if kind == b"q":
        return numbers, at
    if kind == b"n":
        return [None] * rows, at
    if kind == b"b":
        return [number == 1 for number in numbers], at
    if kind == b"t":
        return [_FIRST + timedelta(microseconds=number - _BEFORE) for number in numbers], at
    at += 8
    ends = list(accumulate(numbers, initial=at))
    return [payload[start:end].decode() for start, end in pairwise(ends)], ends[-1]


_compiled = load("exchange")
pack: Callable[[list[Any], list[int] | None, bytes], bytes | None] | None = _compiled and _compiled.pack
"""Return the columns of a block behind ``rest``, or None if its records are not all flat and of one kind. None without
the compiled module: in Python, a pickle is faster."""

unpack: Callable[[bytes, bool], tuple[Any, Any, bytes]]
unpack = _windows.unpack if (_windows := load("windows")) else unpack_in_python
"""Return the values, the timestamps, and the rest of a block. If asked for and possible, the compiled module returns
sequences of values and timestamps that make a record when it is asked for."""
