from __future__ import annotations

import contextlib
import datetime as dt
import enum
import pickle
import sys
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import msgpack
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.checkpoint.strategies import Colour, Level, Point, blocks, same, values

from flintstream.checkpoint.codec import (
    OPTIONAL,
    Opaque,
    _parts,
    decode,
    decode_one,
    encode,
    encode_all,
    encode_one,
    register,
)
from flintstream.checkpoint.registry import BY_TAG, BY_TYPE
from flintstream.checkpoint.values import ENUM, MAX_DEPTH, TAGGED, TUPLE, pack
from flintstream.common import Row
from flintstream.datastream.window import TimeWindow
from flintstream.errors import CheckpointError, CorruptDataError


@dataclass
class Account:
    owner: str
    balance: int


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Celsius(float):
    pass


class Meters(int):
    pass


class Name(str):
    __slots__ = ()


@given(values)
def test_a_single_value_comes_back_as_it_was(value):
    assert same(decode_one(encode_one(value)), value)


@given(blocks)
@example([1, True, 1.0])
@example([True, True, 1])
@example([0.0, -0.0])
@example([(), ()])
@example([[], [1], [2**70]])
@example([1, bytearray(b"x")])
@example([[1], [bytearray(b"x")]])
@example(["a", bytearray(b"x")])
@example(["\ud800", "\ud800"])
@example([{"a": 2**70}, {"a": 1}])
@example([2**70, 2**70])
@example([Row(a=1), Row(b=2)])
def test_a_block_of_values_comes_back_as_it_was(block):
    assert same(decode(encode(block)), block)


@pytest.mark.parametrize(
    "value",
    [
        Meters(3), Celsius(2.5), Name("n"), Point(1, [2]), TimeWindow(0, 5), Level.LOW, np.float64(1.5), np.int64(3),
        np.str_("s"), OrderedDict(a=1), Counter("aab"), defaultdict(list, {1: [2]}), Account("a", 1), Fraction(1, 3),
        memoryview(b"m").tobytes(), range(3), msgpack.ExtType(5, b"x"), msgpack.Timestamp(1, 2), ..., int, len,
    ],
)  # fmt: skip
def test_subclasses_and_foreign_objects_keep_their_type_alone_in_a_collection_and_in_a_block(value):
    for whole in (value, [value], (value, value), {"k": value}):
        assert same(decode_one(encode_one(whole)), whole)
        assert same(decode(encode([whole, whole])), [whole, whole])
    if not isinstance(value, type(len)):
        base = [1, 2, value]
        assert same(decode(encode(base)), base)


with_attribute = OrderedDict(a=1)
with_attribute.more = 1  # type: ignore[attr-defined]
SCALARS = [
    np.bool_(True), np.int8(-128), np.uint8(255), np.int32(-7), np.int64(-(2**63)), np.uint64(2**64 - 1),
    np.float16(0.1), np.float32(0.1), np.float32(3e38), np.float64(0.1), np.float64("-inf"), np.float64(-0.0),
    np.str_(""), np.str_("a\ud800\0"),
]  # fmt: skip
DICTS = [
    OrderedDict([("b", 1), (2, [np.int64(3)])]), OrderedDict(), Counter("abca"), OrderedDict(a=Counter({(1, 2): -1.5})),
]  # fmt: skip


@pytest.mark.parametrize("value", [*SCALARS, *DICTS], ids=lambda value: f"{type(value).__name__} {value}")
def test_scalars_of_numpy_and_well_known_dicts_need_no_pickle(value):
    for whole in (value, [value], (value, value), {"k": value}, Row(a=value)):
        assert same(decode_one(encode_one(whole), allow_pickle=False), whole)
        assert same(decode(encode([whole, whole]), allow_pickle=False), [whole, whole])
    assert list(value) == list(decode_one(encode_one(value))) if isinstance(value, dict) else True


class Celsius64(np.float64):
    pass


@pytest.mark.parametrize(
    "value",
    [np.datetime64("2020-02-03T04:05:06"), np.complex64(1 + 2j), np.longdouble(1) / 3, Celsius64(1.5), np.bytes_(b"a"),
     with_attribute, np.dtype("longlong").type(3)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_a_plain_value_does_not_determine_is_pickled_and_comes_back(value):
    back, expected = decode_one(encode_one(value)), pickle.loads(pickle.dumps(value))
    assert isinstance(decode_one(encode_one(value), allow_pickle=False), Opaque)
    assert (type(back), back) == (type(expected), expected)
    assert getattr(back, "more", None) == getattr(value, "more", None)


def test_a_scalar_of_numpy_is_plain_where_numpy_is_missing(monkeypatch):
    data = encode_one([np.int64(5), np.str_("a")])
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert [(type(value), value) for value in decode_one(data)] == [(int, 5), (str, "a")]


@pytest.mark.parametrize(
    "content",
    [["numpy", ["object", 1]], ["numpy", ["int8", 300]], ["numpy", ["int64", True]], ["numpy", ["int64", "5"]],
     ["numpy", ["i4,i4", 1]], ["numpy", 5], ["OrderedDict", [["a"], []]], ["Counter", [[["a"]], [1]]]],
    ids=str,
)  # fmt: skip
def test_forged_scalars_and_dicts_are_refused(content):
    with pytest.raises(CorruptDataError):
        decode_one(pack(msgpack.ExtType(TAGGED, pack(content))), allow_pickle=False)


def test_an_array_comes_back():
    array = np.arange(6, dtype="int16").reshape(2, 3)
    (back,) = decode(encode([array]))
    assert back.dtype == array.dtype
    assert (back == array).all()


def test_instances_of_classes_that_cannot_be_imported_come_back():
    local = namedtuple("local", "a b")  # noqa: PYI024
    assert decode_one(encode_one(local(1, 2))) == (1, 2)


def test_plain_data_can_be_read_without_pickle():
    moment = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    block = [(1, "a", None, [2.5, {"x": (3,)}], Decimal(1), moment, Row(a={4}), Colour.BLUE)]
    assert decode(encode(block), allow_pickle=False) == block
    assert decode_one(encode_one(block), allow_pickle=False) == block


def test_what_is_pickled_stays_opaque_when_that_is_asked_for_and_can_be_written_again():
    block = [("a", Account("x", 1)), ("b", Account("y", 2))]
    opaque = decode(encode(block), allow_pickle=False)
    assert [type(value) for _, value in opaque] == [Opaque, Opaque]
    assert decode(encode(opaque)) == block


def test_an_enum_of_a_module_that_is_not_loaded_stays_opaque_without_pickle():
    data = msgpack.packb(msgpack.ExtType(ENUM, msgpack.packb(["wsgiref.nowhere", "A", "B"])))
    assert type(decode_one(data, allow_pickle=False)) is Opaque
    with pytest.raises(CorruptDataError, match=r"wsgiref\.nowhere"):
        decode_one(data)


def test_what_is_no_enum_is_not_taken_for_one():
    data = msgpack.packb(msgpack.ExtType(ENUM, msgpack.packb(["os", "environ", "PATH"])))
    with pytest.raises(CorruptDataError, match="not an enum"):
        decode_one(data)


def test_flags_without_a_name_of_their_own_come_back():
    both = Access.READ | Access.WRITE
    assert decode_one(encode_one(both)) is both


def test_values_that_contain_themselves_and_deep_ones_come_back():
    loop: list = [1]
    loop.append(loop)
    back = decode_one(encode_one(loop))
    assert back[1] is back
    (back,) = decode(encode([loop]))
    for _ in range(100):
        assert back[0] == 1
        back = back[1]
    for depth in (MAX_DEPTH - 1, MAX_DEPTH, 300):
        deep: object = "core"
        for _ in range(depth):
            deep = (deep,)
        assert decode_one(encode_one(deep)) == deep
        assert decode(encode([[deep], [deep]])) == [[deep], [deep]]


def test_what_can_be_neither_written_nor_pickled_is_named():
    with pytest.raises(CheckpointError, match="generator"):
        encode([(i for i in range(3))])


def test_upper_layers_add_types():
    register("test account", Account, lambda a: (a.owner, a.balance), lambda p: Account(*p))
    try:
        accounts = [Account("x", 1), Account("y", 2)]
        assert decode(encode(accounts), allow_pickle=False) == accounts
        data = encode_one(accounts)
        with pytest.raises(ValueError, match=r"'test account' .* belongs to"):
            register("test account", Point, tuple, tuple)
    finally:
        del BY_TYPE[Account], BY_TAG["test account"]
    with pytest.raises(CorruptDataError, match="'test account'"):
        decode_one(data)


def test_a_class_that_is_gone_is_named(monkeypatch):
    data = encode_one(Account("x", 1))
    monkeypatch.delitem(globals(), "Account")
    with pytest.raises(CorruptDataError, match="Account"):
        decode_one(data)


def _decodes_or_is_refused(read, data):
    with contextlib.suppress(CorruptDataError):
        read(data, allow_pickle=False)


@given(blocks, st.data())
def test_blocks_that_share_values_are_written_as_each_alone(block, draw):
    keys = [(draw.draw(st.integers(0, 3)), value) for value in block]
    parts = [keys, [(value, 1) for value in block], block, [*reversed(block)], [], keys]
    assert encode_all(parts) == [encode(part) for part in parts]


@given(blocks, st.data())
def test_damaged_bytes_are_refused_or_decode_but_nothing_else_happens(block, draw):
    for data, read in ((encode(block), decode), (encode_one(block), decode_one)):
        cut = draw.draw(st.integers(0, len(data) - 1))
        with pytest.raises(CorruptDataError):
            read(data[:cut], allow_pickle=False)
        with pytest.raises(CorruptDataError):
            read(data + b"\0", allow_pickle=False)
        flipped = bytearray(data)
        flipped[draw.draw(st.integers(0, len(data) - 1))] ^= draw.draw(st.integers(1, 255))
        _decodes_or_is_refused(read, bytes(flipped))


@given(st.binary())
def test_foreign_bytes_are_refused_or_decode_but_nothing_else_happens(data):
    _decodes_or_is_refused(decode, data)
    _decodes_or_is_refused(decode_one, data)


def test_endless_nesting_is_refused():
    data = b"\x90"
    for _ in range(1000):
        data = msgpack.packb([msgpack.ExtType(TUPLE, data)])
    for bomb in (data, b"\x91" * 100_000, b"\xc1" + b"\x91" * 100_000):
        with pytest.raises(CorruptDataError):
            decode_one(bomb)


@pytest.mark.parametrize(
    "tree",
    [
        [1, 1 << 40, 5], [1, -1, 5], [1, 2, [3]], [2, 1 << 40, []], [2, 3, [[0, [1]]]], [3, [2], [0, [1]]],
        [3, [-1, 2], [0, [1]]], [0, 5], [4, "?", [0, []]], [9, 1], 5, {}, [], None,
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_refused(tree):
    with pytest.raises(CorruptDataError):
        decode(msgpack.packb(tree))


@given(st.lists(st.none() | st.dictionaries(st.integers(), st.integers()), min_size=1))
def test_a_block_of_values_of_which_some_are_none_comes_back(block):
    assert decode(encode(block)) == block


@pytest.mark.parametrize("missing", [[0, 0], [5], [-1], ["a"]])
def test_wrong_positions_of_missing_values_are_corrupt_data(missing):
    data = _parts(OPTIONAL, pack(missing), encode([1, 2]))
    with pytest.raises(CorruptDataError):
        decode(data)
