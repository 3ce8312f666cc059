"""Serialization of blocks of records for an exchange.

Flat records of one kind become columns (:mod:`flintstream.runtime.exchange.columns`), if the compiled module is there.
All others are pickled. Two things dominate the cost of that, and this module avoids both. Python's pickler remembers
every tuple and string in case it occurs again, which is useless for flat records. And every row carries the name of its
class and a call of its constructor, so a block of rows with the same fields is written as lists of values instead.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, NamedTuple

from flintstream.common._user_code.pickling import dumps
from flintstream.common.types import Row, RowKind, _make_rows
from flintstream.runtime.exchange import columns

_FLAT = frozenset({int, float, str, bool, bytes, type(None)}).issuperset
_FLAT_KINDS = frozenset({tuple, list})


class Block(NamedTuple):
    """Records in transit."""

    values: list[Any]
    timestamps: list[int] | None
    marks: list[tuple[int, int]]
    plain_keys: bool

    def cut(self, records: int) -> tuple[Block, Block | None]:
        """Return the first ``records`` with the marks up to their end, and the rest.

        >>> Block(["a", "b", "c"], None, [(1, 10), (3, 20)], True).cut(2)
        (Block(values=['a', 'b'], timestamps=None, marks=[(1, 10)], plain_keys=True), \
Block(values=['c'], timestamps=None, marks=[(1, 20)], plain_keys=True))
        """
        values, timestamps, marks, plain_keys = self
        if records >= len(values):
            return self, None
        return (
            Block(
                values[:records],
                None if timestamps is None else timestamps[:records],
                [mark for mark in marks if mark[0] <= records],
                plain_keys,
            ),
            Block(
                values[records:],
                None if timestamps is None else timestamps[records:],
                [(position - records, mark) for position, mark in marks if position > records],
                plain_keys,
            ),
        )


def pack(values: list[Any], timestamps: list[int] | None, marks: list[tuple[int, int]], *, plain_keys: bool) -> bytes:
    """Return a block as bytes.

    Raises:
        Exception: A record cannot be pickled.
    """
    fields: Any = False
    if values and type(values[0]) is Row and (lists := _without_rows(values)) is not None:
        fields, values = values[0]._field_names, lists
    if columns.pack is not None:
        rest = pickle.dumps((marks, plain_keys, fields), 5)
        if (packed := columns.pack(values, timestamps, rest)) is not None:
            return packed
    block = (values, timestamps, marks, plain_keys, fields)
    if values and is_flat(values[0]) and is_flat(values[-1]):
        # This checks just two records. A deep one in between takes longer; one that contains itself fails.
        try:
            return _dump_flat(block)
        except BaseException:  # noqa: BLE001, S110 - the general pickler reports the error, if any
            pass
    return dumps(block)


def unpack(payload: bytes, *, as_columns: bool = False) -> Block:
    """Return the block that :func:`pack` wrote.

    With ``as_columns``, its values and timestamps may be sequences that make a record when it is asked for.

    >>> from flintstream.common import Row
    >>> unpack(pack([Row(a=1), Row(a=2)], None, [], plain_keys=True)).values
    [Row(a=1), Row(a=2)]
    """
    values: list[Any]
    if payload[0] == columns.MAGIC:
        values, timestamps, rest = columns.unpack(payload, as_columns)
        marks, plain_keys, fields = pickle.loads(rest)
    else:
        values, timestamps, marks, plain_keys, fields = pickle.loads(payload)
    if fields is not False:
        values = _make_rows(fields, list(values))
    return Block(values, timestamps, marks, plain_keys)


def is_flat(value: object) -> bool:
    """Tell whether ``value`` is a number, string or other atom, or a tuple or list of these."""
    cls = type(value)
    return _FLAT((cls,)) or (cls in _FLAT_KINDS and _FLAT(map(type, value)))  # type: ignore[call-overload]


def _without_rows(rows: list[Any]) -> list[list[Any]] | None:
    """Return the values of ``rows`` if all are inserts with the same fields, else None."""
    fields, insert = rows[0]._field_names, RowKind.INSERT
    lists = []
    for row in rows:
        if type(row) is not Row or row._field_names != fields or row._row_kind is not insert:
            return None
        lists.append(row._values)
    return lists


def _dump_flat(block: tuple[Any, ...]) -> bytes:
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True
    pickler.dump(block)
    return buffer.getvalue()
