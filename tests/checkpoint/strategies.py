"""Values of every kind that state may hold, and exact equality of two values."""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections import deque
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from flintstream.common import Duration, Instant, JobID, Row, RowKind, Time
from flintstream.common._types.nanoseconds import with_nanoseconds
from flintstream.datastream.window import CountWindow, GlobalWindow, TimeWindow


class Colour(enum.Enum):
    RED = 1
    ALSO_RED = 1  # noqa: PIE796 - an alias
    BLUE = (2, 3)


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int
    y: object


zones = st.one_of(
    st.none(),
    st.sampled_from([dt.timezone.utc, ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")]),
    st.builds(dt.timezone, st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23))),
    st.just(dt.timezone(dt.timedelta(hours=2), "CEST")),
)
datetimes = st.builds(lambda d, z, f: d.replace(tzinfo=z, fold=f), st.datetimes(), zones, st.integers(0, 1))
any_text = st.text(st.characters(exclude_categories=())) | st.just("\ud83d\ude00 \udc80")
any_int = st.integers() | st.integers(2**63 - 2, 2**64 + 2) | st.just(-(2**63)) | st.just(3**500)
atoms = st.one_of(st.none(), st.booleans(), any_int, st.floats(), any_text, st.binary())
scalars = st.one_of(
    atoms,
    st.binary().map(bytearray),
    st.complex_numbers(allow_nan=False),
    st.decimals(),
    st.dates(),
    datetimes,
    st.builds(with_nanoseconds, st.datetimes(), st.integers(0, 999)),
    st.builds(lambda t, f: t.replace(fold=f), st.times(), st.integers(0, 1)),
    st.timedeltas(),
    st.uuids(),
    st.builds(TimeWindow, any_int, any_int),
    st.builds(CountWindow, any_int),
    st.just(GlobalWindow.get()),
    st.builds(Instant, any_int, st.integers(0, 999_999_999)),
    st.builds(Duration, any_int),
    st.builds(Time, any_int),
    st.sampled_from([*Colour, *Level, *RowKind]),
    st.builds(JobID, st.just("00112233445566778899aabbccddeeff")),
)
hashables = st.recursive(
    scalars.filter(lambda v: not isinstance(v, bytearray) and not (isinstance(v, Decimal) and v.is_snan())),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)


def _containers(inner):
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(hashables, inner, max_size=3),
        st.sets(hashables, max_size=3),
        st.lists(inner, max_size=3).map(lambda v: Row(*v)),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(lambda v: Row.of_kind(RowKind.DELETE, **v)),
        st.lists(inner, max_size=3).map(lambda v: deque(v, 5)),
        st.builds(Point, st.integers(), inner),
    )


values = st.recursive(scalars | hashables, _containers, max_leaves=8)
blocks = st.one_of(
    st.lists(values, max_size=6),
    *(st.lists(kind, max_size=6) for kind in (atoms, st.integers(), any_text, scalars)),
    st.lists(st.tuples(atoms, values), max_size=6),
    st.lists(st.tuples(st.integers(), st.tuples(any_text, st.floats())), max_size=6),
    st.lists(st.lists(values, max_size=3), max_size=6),
    st.lists(st.dictionaries(atoms, atoms, max_size=3), max_size=6),
    st.builds(lambda value, count: [value] * count, values, st.integers(0, 5)),
)


def same(left: Any, right: Any) -> bool:
    """Return whether values and the types of all their parts are the same."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or (left == right and str(left) == str(right))
    if isinstance(left, Decimal):
        return left.as_tuple() == right.as_tuple()
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, dt.datetime | dt.time):
        return (
            left.replace(tzinfo=None) == right.replace(tzinfo=None)
            and (left.fold, left.tzinfo) == (right.fold, right.tzinfo)
            and repr(left.tzinfo) == repr(right.tzinfo)
        )
    if isinstance(left, list | tuple | deque):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left), list(right)) and same(list(left.values()), list(right.values()))
    if isinstance(left, set | frozenset):
        rest = list(right)
        for item in left:
            found = next((i for i, other in enumerate(rest) if same(item, other)), None)
            if found is None:
                return False
            del rest[found]
        return not rest
    if isinstance(left, Row):
        return (left._field_names, left._row_kind) == (right._field_names, right._row_kind) and same(
            left._values, right._values
        )
    if isinstance(left, UUID):
        return (left, left.is_safe) == (right, right.is_safe)
    return left == right
