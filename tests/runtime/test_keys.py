"""Keys are hashed the same way everywhere, and told apart by content."""

from __future__ import annotations

import enum
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Row
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
    frozen = freeze_key({"a": [1]})
    thaw_key(frozen)["a"].append(2)
    assert thaw_key(frozen) == {"a": [1]}


HASH_SOME_KEYS = """
from flintstream.runtime.keys import freeze_key, stable_hash
print([stable_hash(freeze_key(k)) for k in ['a', b'a', (1, 'x'), None, {'k': [1]}, 2.5]])
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
