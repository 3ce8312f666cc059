from __future__ import annotations

import datetime as dt
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.checkpoint.strategies import Colour, Level, Point, hashables

from flintstream.checkpoint.codec import decode_one, encode_one
from flintstream.checkpoint.key_codec import encode_key
from flintstream.common import Row, RowKind
from flintstream.datastream.window import CountWindow, TimeWindow

numbers = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from([0.0, -0.0, 0.5, 2.0**70, 1e300, float("inf")]),
    st.sampled_from([Decimal(text) for text in ("0", "1.0", "0.5", "0.1", "1E+70", "2E+5", "Infinity", "-0")]),
    st.integers(2**64 - 1, 2**64 + 1),
    st.just(10**70),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False),
    st.integers(),
)
plain = st.recursive(
    numbers | st.none() | st.text("ab", max_size=2) | st.binary(max_size=1),
    lambda inner: st.lists(inner, max_size=2).map(tuple) | st.frozensets(inner, max_size=2),
    max_leaves=3,
)


@given(plain, plain)
@example(10**70, Decimal("1E+70"))
@example(2**64, 2.0**64)
@example(0.1, Decimal("0.1"))
@example(Decimal("1E+5000"), 10**5000)
def test_bytes_are_equal_exactly_when_keys_are(left, right):
    assert (encode_key(left) == encode_key(right)) == (left == right)


@given(hashables)
def test_a_copy_of_a_key_is_the_same_key(key):
    assert encode_key(decode_one(encode_one(key))) == encode_key(key)


@given(hashables)
def test_any_key_has_bytes_and_they_are_its_own(key):
    assert encode_key(key) == encode_key(key)
    assert encode_key(key) != encode_key((key,))


P = namedtuple("P", "a b")  # noqa: PYI024
NOON = dt.datetime(2024, 7, 1, 12)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (P(1, 2), (1, 2)), (Point(1, "x"), P(1.0, "x")), (np.int64(5), 5), (np.float64(0.5), 0.5), (np.str_("s"), "s"),
        (Fraction(1), 1), (Fraction(1, 4), 0.25), (Fraction(-1, 10), Decimal("-0.1")), (Fraction(10**400), 10**400),
        (np.float32(0.5), 0.5), (np.float32(0.1), float(np.float32(0.1))), (np.bool_(True), 1), (np.complex64(2), 2),
        (Level.LOW, 1), (1 + 0j, 1), (float("nan"), float("nan")), (np.int32(1), True),
        (NOON.replace(tzinfo=dt.timezone.utc), NOON.replace(hour=14, tzinfo=ZoneInfo("Europe/Berlin"))),
        (NOON, NOON.replace(fold=1)),
        (dt.time(12, tzinfo=dt.timezone.utc), dt.time(14, tzinfo=dt.timezone(dt.timedelta(hours=2)))),
        (Row(a=1, b=2), Row(b=2.0, a=True)), (Row(1, "x"), Row(1.0, "x")), (TimeWindow(0, 5), TimeWindow(0, 5)),
    ],
)  # fmt: skip
def test_one_key_in_two_spellings(left, right):
    assert encode_key(left) == encode_key(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (TimeWindow(0, 5), (0, 5)), (CountWindow(1), 1), (Row(1), (1,)), (Row(1), Row(a=1)), ("1", 1), (b"a", "a"),
        (Row(1), Row.of_kind(RowKind.DELETE, 1)), (NOON, NOON.replace(tzinfo=dt.timezone.utc)), (NOON, NOON.date()),
        (0.1, Decimal("0.1")), (Fraction(1, 10), 0.1), (np.float32(0.1), 0.1), (np.bool_(False), None),
        (Colour.RED, Colour.BLUE), (Fraction(1, 3), Fraction(2, 3)), ((1, (2,)), ((1, 2),)), (1j, 1), ((), None),
        ("", None), (dt.timedelta(1), 86400), (frozenset(), ()),
    ],
)  # fmt: skip
def test_different_keys(left, right):
    assert encode_key(left) != encode_key(right)
