"""Codec extensions for the value types of the standard library and of flintstream."""

from __future__ import annotations

import datetime as dt
from collections import deque
from decimal import Decimal
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

from flintstream.checkpoint.registry import register
from flintstream.common._types.nanoseconds import PreciseDatetime, plain_datetime, with_nanoseconds
from flintstream.common.job_id import JobID
from flintstream.common.time import Duration, Instant, Time
from flintstream.common.types import Row, RowKind, _make_row
from flintstream.contracts.window import CountWindow, GlobalWindow, TimeWindow
from flintstream.storage.local import LocalFileStore
from flintstream.storage.memory import MemoryFileStore
from flintstream.storage.remote import FsspecFileStore

_FIRST = dt.datetime.fromtimestamp(0, dt.timezone.utc).replace(tzinfo=None)
_ROW_KINDS = tuple(RowKind)
_NUMBERS = {row_kind: row_kind.value for row_kind in RowKind}


def _row(plain: tuple[tuple[str, ...] | None, tuple[Any, ...], int]) -> Row:
    fields, values, row_kind = plain
    if fields is not None and type(fields) is not tuple:
        raise TypeError("the names of the fields of a row must be a tuple")
    return _make_row(fields, list(values), _ROW_KINDS[row_kind])


def _row_key(row: Row) -> tuple[Any, ...]:
    # Equality of named rows ignores the order of their fields.
    row_kind = _NUMBERS[row._row_kind]
    names = row._field_names
    if names is None:
        return (row_kind, None, tuple(row))
    return (row_kind, tuple(sorted(names)), tuple(row._by_name()))


def _datetime(plain: int | tuple[str, int, dt.tzinfo | None]) -> dt.datetime:
    if isinstance(plain, int):
        return _FIRST + dt.timedelta(0, 0, plain)
    text, fold, zone = plain
    return dt.datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _datetime_parts(value: dt.datetime) -> int | tuple[str, int, dt.tzinfo | None]:
    zone = value.tzinfo
    if zone is None and not value.fold:  # a number takes a fraction of the time
        since = value - _FIRST
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return (value if zone is None else value.replace(tzinfo=None)).isoformat(), value.fold, zone


def _precise_key(value: PreciseDatetime) -> tuple[bool, str, int]:
    return (*_datetime_key(plain_datetime(value)), value.nanosecond)


def _datetime_key(value: dt.datetime) -> tuple[bool, str]:
    # Python compares aware datetimes as instants, and never compares fold.
    value = value.replace(fold=0)
    offset = value.utcoffset()
    if offset is None:
        return False, value.replace(tzinfo=None).isoformat()
    since = value.replace(tzinfo=None) - dt.datetime.min - offset  # noqa: DTZ901 - may precede the first datetime
    return True, str(since // dt.timedelta(microseconds=1))


def _time(plain: tuple[str, int, dt.tzinfo | None]) -> dt.time:
    text, fold, zone = plain
    return dt.time.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _time_key(value: dt.time) -> tuple[bool, int]:
    offset = value.replace(fold=0).utcoffset()
    since = dt.timedelta(
        hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
    ) - (offset or dt.timedelta())
    return offset is not None, since // dt.timedelta(microseconds=1)


def _zone_key(zone: ZoneInfo) -> str:
    if zone.key is None:
        raise TypeError("cannot write a ZoneInfo that was read from a file without a key: create it with a key")
    return zone.key


register("Decimal", Decimal, str, Decimal)
register("complex", complex, lambda c: (c.real, c.imag), lambda p: complex(*p))
register("date", dt.date, dt.date.toordinal, dt.date.fromordinal)
register("datetime", dt.datetime, _datetime_parts, _datetime, to_key=_datetime_key)
register(
    "PreciseDatetime",
    PreciseDatetime,
    lambda p: (plain_datetime(p), p.nanosecond),
    lambda p: with_nanoseconds(*p),
    to_key=_precise_key,
)
register("time", dt.time, lambda t: (t.replace(tzinfo=None).isoformat(), t.fold, t.tzinfo), _time, to_key=_time_key)
register("timedelta", dt.timedelta, lambda d: (d.days, d.seconds, d.microseconds), lambda p: dt.timedelta(*p))
# The arguments of the timezone: its offset, and its name if it has one.
register("timezone", dt.timezone, lambda z: z.__getinitargs__(), lambda p: dt.timezone(*p))
register("ZoneInfo", ZoneInfo, _zone_key, ZoneInfo)
register(
    "UUID",
    UUID,
    lambda u: (u.bytes, u.is_safe.value),
    lambda p: UUID(bytes=p[0], is_safe=SafeUUID(p[1])),
    to_key=lambda u: u.bytes,
)
register("deque", deque, lambda d: (list(d), d.maxlen), lambda p: deque(*p))
register("Row", Row, lambda r: (r._field_names, tuple(r._values), _NUMBERS[r._row_kind]), _row, to_key=_row_key)
register("Instant", Instant, lambda i: (i.seconds, i.nanos), lambda p: Instant(*p))
register("Duration", Duration, lambda d: d.nanos, Duration)
register("Time", Time, lambda t: t.to_milliseconds(), Time)
register("JobID", JobID, str, JobID)
register("TimeWindow", TimeWindow, tuple, lambda p: TimeWindow(*p))
register("CountWindow", CountWindow, lambda w: w.id, CountWindow)
register("GlobalWindow", GlobalWindow, lambda _: None, lambda _: GlobalWindow.get())
register("LocalFileStore", LocalFileStore, lambda s: s.root, LocalFileStore)
register("MemoryFileStore", MemoryFileStore, lambda s: (s.name, s.root), lambda p: MemoryFileStore(*p))
register("FsspecFileStore", FsspecFileStore, lambda s: s.root, FsspecFileStore.of_checked_root)
