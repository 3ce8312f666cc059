"""Keys have the same hash everywhere, and are compared by content."""

from __future__ import annotations

import enum
import os
import pickle
import subprocess
import sys
import uuid
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.checkpoint import codec
from flintstream.common import Row
from flintstream.runtime.copies import copy_mutable
from flintstream.runtime.keys import FrozenKey, freeze_key, key_group, stable_hash, subtask_of_key_group, thaw_key


class Colour(enum.Enum):
    RED = 1


class Plain:
    def __init__(self, x):
        self.x = x


@dataclass(frozen=True)
class Point:
    x: int
    y: int


@dataclass(frozen=True)
class Remark:
    number: int
    text: str = field(default="", compare=False)


class Level(enum.IntEnum):
    LOW = 1


class Word(str):
    __slots__ = ()


class Marked(str, enum.Enum):
    YES = "yes"


Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - as users write them

keys = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(keys)
def test_any_key_freezes_to_something_hashable_that_thaws_to_itself(key):
    frozen = freeze_key(key)
    hash(frozen)
    thawed = thaw_key(frozen)
    assert thawed is key or repr(thawed) == repr(key)


@given(keys)
def test_copies_of_a_key_are_the_same_key(key):
    copy = pickle.loads(pickle.dumps(key))
    assert freeze_key(copy) == freeze_key(key)
    assert stable_hash(freeze_key(copy)) == stable_hash(freeze_key(key))


@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_numbers_that_compare_equal_hash_equal(number):
    assert stable_hash(number) == stable_hash(float(number))


def assert_same_key(one, other):
    assert one == other
    assert freeze_key(one) == freeze_key(other)
    assert hash(freeze_key(one)) == hash(freeze_key(other))
    assert stable_hash(freeze_key(one)) == stable_hash(freeze_key(other))


def in_every_type(quarters):
    """Return the number in the types that compare equal."""
    exact = Fraction(quarters, 4)
    number = float(exact)
    same: list[Any] = [exact, number, Decimal(number), complex(number)]
    if exact.denominator == 1:
        same.append(int(exact))
        if number == 1:
            same += [True, Level.LOW]
    return same


containers = st.sampled_from(
    [lambda v: v, lambda v: (v, "x"), lambda v: [v], lambda v: {"k": v}, lambda v: {v}, Row, lambda v: Pair(v, [v])]
)


@given(st.integers(-(2**50), 2**50) | st.sampled_from([0, 1, 2, 4]), containers)
def test_numbers_of_all_types_are_one_key_when_they_are_equal(quarters, within):
    same = in_every_type(quarters)
    for other in same[1:]:
        assert_same_key(within(same[0]), within(other))


def test_numpys_numbers_are_the_keys_of_pythons():
    numpy = pytest.importorskip("numpy")
    for one, other in [(numpy.float64(0.5), 0.5), (numpy.int32(7), 7), (numpy.bool_(1), True), (numpy.str_("a"), "a")]:
        assert_same_key(one, other)


zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(datetime(1902, 1, 1), datetime(2200, 1, 1)), zones)
def test_an_instant_is_one_key_in_all_time_zones(moment, zone):
    assert_same_key(moment.replace(tzinfo=timezone.utc), moment.replace(tzinfo=timezone.utc).astimezone(zone))


def test_first_and_last_moment_have_a_hash_in_every_zone():
    behind, ahead = timezone(timedelta(hours=-12)), timezone(timedelta(hours=14))
    assert stable_hash(datetime.min.replace(tzinfo=ahead)) != stable_hash(datetime.max.replace(tzinfo=behind))


NAN = float("nan")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (time(12, tzinfo=timezone.utc), time(14, tzinfo=timezone(timedelta(hours=2)))),
        (datetime(2020, 1, 1), datetime(2020, 1, 1, fold=1)),
        (Pair(1, "a"), (1, "a")),
        (Pair([1], 2), ([1], 2)),
        (("a", Decimal(1)), ("a", 1)),
        (Word("a"), "a"),
        (Marked.YES, "yes"),
        (Row(a=1, b=[2]), Row(b=[2], a=1)),
        ({1}, frozenset({1})),
        (Remark(1, "seen"), Remark(1, "also seen")),
        (uuid.UUID(int=7), uuid.UUID(int=7, is_safe=uuid.SafeUUID.safe)),
    ],
)
def test_what_compares_equal_is_the_same_key(one, other):
    assert_same_key(one, other)


@pytest.mark.parametrize("nan", [Decimal("nan"), Decimal("snan"), complex(0, float("nan"))])
def test_a_key_that_differs_from_itself_finds_itself_again(nan):
    copy = pickle.loads(pickle.dumps(nan))
    assert freeze_key((nan, "x")) == freeze_key((copy, "x"))
    assert stable_hash(freeze_key(nan)) == stable_hash(freeze_key(copy))


@pytest.mark.parametrize(
    ("one", "other"),
    [([("list", 1)], [["list", 1]]), ([[1]], [("list", 1)]), ((NAN, [1]), (("nan",), [1])), ([{1: 2}], [{(1, 2)}])],
)
def test_no_key_looks_like_the_inside_of_another(one, other):
    assert freeze_key(one) != freeze_key(other)


def test_objects_of_local_classes_are_keys():
    @dataclass(frozen=True, slots=True)
    class Local:
        number: int

    @dataclass(slots=True)
    class Unhashable:
        numbers: list[int]

    class Bare:
        __slots__ = ("number",)

        def __init__(self):
            self.number = 3

    assert_same_key(Local(1), Local(1))
    assert_same_key(Unhashable([1]), Unhashable([1]))
    assert freeze_key(Unhashable([1])) != freeze_key(Unhashable([2]))
    assert freeze_key(Bare()) == freeze_key(Bare())
    assert stable_hash(freeze_key(Bare())) == stable_hash(freeze_key(Bare()))


@pytest.mark.parametrize(
    "key", [Colour.RED, Row(a=1, b="x"), Plain([1]), Point(1, 2), {"a": [1]}, {1, 2}, float("nan")]
)
def test_a_frozen_key_survives_pickling(key):
    frozen = freeze_key(key)
    again = pickle.loads(pickle.dumps(frozen))
    assert again == frozen
    assert stable_hash(again) == stable_hash(frozen)


def test_objects_without_equality_are_keys_by_content():
    assert freeze_key(Plain(1)) == freeze_key(Plain(1))
    assert freeze_key(Plain(1)) != freeze_key(Plain(2))


def test_a_mutated_original_does_not_change_its_frozen_key():
    original = [1, 2]
    frozen = freeze_key(original)
    original.append(3)
    assert frozen == freeze_key([1, 2])
    assert isinstance(frozen, FrozenKey)
    assert thaw_key(frozen) == [1, 2]
    assert pickle.loads(pickle.dumps(frozen)) == frozen


def test_who_changes_the_key_he_is_handed_changes_only_that():
    frozen = freeze_key(Row(1, ["a"]))
    thaw_key(frozen)[1].append("b")
    assert thaw_key(frozen) == Row(1, ["a"])


HASH_SOME_KEYS = """
import datetime, decimal, enum, pathlib, uuid
from dataclasses import dataclass
from flintstream.common import Row
from flintstream.runtime.keys import freeze_key, stable_hash

@dataclass(frozen=True, slots=True)
class Point:
    name: str

@dataclass
class Mutable:
    name: str

class Plain:
    def __init__(self):
        self.name = "x"

class Colour(enum.Enum):
    RED = "r"

class Access(enum.Flag):
    READ = 1
    WRITE = 2

keys = [
    'a', b'a', (1, 'x'), ('a', ('b', b'c')), None, {'k': [1]}, 2.5, {'a', 'b', 'c'}, decimal.Decimal('0.1'), Plain(),
    datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1), datetime.time(1), datetime.timedelta(1), uuid.UUID(int=9),
    pathlib.PurePosixPath('a/b'), Point('x'), Mutable('x'), Row(a='x'), Row('x'), Colour.RED,
    Access.READ | Access.WRITE,
]
print([stable_hash(freeze_key(key)) for key in keys])
"""


def test_hashes_do_not_depend_on_the_process():
    seen = {
        subprocess.run(  # noqa: S603 - our own interpreter and code
            [sys.executable, "-c", HASH_SOME_KEYS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


@given(keys, st.integers(1, 40), st.integers(0, 4096))
def test_every_key_group_has_an_owner_among_the_subtasks(key, parallelism, extra):
    most = parallelism + extra
    owner = subtask_of_key_group(key_group(freeze_key(key), most), parallelism, most)
    assert 0 <= owner < parallelism


@pytest.mark.parametrize("parallelism", [2, 3, 8])
def test_small_integers_spread_over_the_subtasks(parallelism):
    owners = [subtask_of_key_group(key_group(n, 128), parallelism, 128) for n in range(1000)]
    counts = [owners.count(subtask) for subtask in range(parallelism)]
    assert min(counts) > 1000 / parallelism / 2


@pytest.mark.parametrize("key", [[1, "a"], {"b": [2]}, {3, 4}, Row(a=[1]), float("nan")])
def test_a_frozen_key_is_stored_without_pickle(key):
    frozen = freeze_key(key)
    (stored,) = codec.decode(codec.encode([frozen]), allow_pickle=False)
    assert stored == frozen
    assert codec.encode_key(stored) == codec.encode_key(freeze_key(copy_mutable(key)))
