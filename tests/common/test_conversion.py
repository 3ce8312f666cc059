"""Values after a serializer of their declared type. The expected values are those of PyFlink 2.3.0."""

from __future__ import annotations

import copy
import datetime as dt
import enum
import math
import pickle
import uuid
from decimal import Decimal
from types import SimpleNamespace
from typing import NamedTuple

import cloudpickle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Instant, Row, RowKind, Types
from flintstream.common.typeinfo import ExternalTypeInfo, LocalTimeTypeInfo, TypeInformation

INTEGER_BITS = {Types.BYTE(): 8, Types.SHORT(): 16, Types.INT(): 32, Types.LONG(): 64}
PAIR = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])


class Color(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Ratio(float, enum.Enum):
    HALF = 0.5


class Letter(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "other"


class Named(NamedTuple):
    a: int
    b: str


def convert(type_info: TypeInformation, value: object) -> object:
    converter = type_info.converter()
    assert converter is not None
    return converter(value)


@pytest.mark.parametrize(
    ("type_info", "value", "expected"),
    [
        (Types.INT(), 2.7, 2),
        (Types.INT(), True, 1),
        (Types.LONG(), Decimal(5), 5),
        (Types.BOOLEAN(), 1, True),
        (Types.BOOLEAN(), 0, False),
        (Types.BOOLEAN(), 2, True),
        (Types.BOOLEAN(), 256, True),
        (Types.BOOLEAN(), -7, True),
        (Types.BOOLEAN(), 0.0, False),
        (Types.BOOLEAN(), 0.5, False),
        (Types.BOOLEAN(), 3.7, True),
        (Types.TUPLE([Types.INT(), Types.INT()]), (1, 2.5, 3), (1, 2)),
        (Types.SQL_TIME(), dt.datetime(2020, 1, 2, 3, 4, 5, 678901), dt.time(3, 4, 5, 678000)),
        (Types.STRING(), Color.RED, "red"),
        (Types.CHAR(), Letter("a"), "a"),
        (Types.INT(), Level.LOW, 1),
        (Types.DOUBLE(), Ratio.HALF, 0.5),
        (Types.BIG_DEC(), Level.LOW, Decimal(1)),
        (Types.BIG_DEC(), Ratio.HALF, Decimal("0.5")),
        (Types.BIG_DEC(), "1.50", Decimal("1.50")),
        (Types.TUPLE([Types.STRING(), Types.INT()]), (Color.RED, Level.LOW), ("red", 1)),
        (Types.MAP(Types.STRING(), Types.STRING()), {Color.RED: Color.RED}, {"red": "red"}),
        (Types.FLOAT(), 110.1, 110.0999984741211),
        (Types.FLOAT(), 1, 1.0),
        (Types.FLOAT(), 1e39, math.inf),
        (Types.FLOAT(), -1e39, -math.inf),
        (Types.DOUBLE(), 1, 1.0),
        (Types.BIG_INT(), 2**80, 2**80),
        (Types.BIG_INT(), 2.0, 2),
        (Types.BIG_INT(), Decimal(5), 5),
        (Types.BIG_DEC(), 1, Decimal(1)),
        (Types.BIG_DEC(), 1.5, Decimal("1.5")),
        (Types.CHAR(), "x", "x"),
        (Types.SQL_DATE(), dt.datetime(2020, 2, 3, 5), dt.date(2020, 2, 3)),
        (Types.SQL_TIME(), dt.time(1, 2, 3, 456789), dt.time(1, 2, 3, 456000)),
        (Types.SQL_TIME(), dt.time(1, 2, 3, tzinfo=dt.timezone.utc), dt.time(1, 2, 3)),
        (Types.SQL_TIMESTAMP(), dt.datetime(2020, 2, 3, 4, 5, 6, 123456), dt.datetime(2020, 2, 3, 4, 5, 6, 123456)),
        (Types.SQL_TIMESTAMP(), dt.datetime(2020, 2, 3, 4, tzinfo=dt.timezone.utc), dt.datetime(2020, 2, 3, 4)),
        (Types.INSTANT(), Instant(1, 123456789), Instant(1, 123456789)),
        (Types.TUPLE([Types.INT(), Types.FLOAT()]), (1, 0.1), (1, 0.10000000149011612)),
        (Types.TUPLE([Types.INT(), Types.STRING()]), [1, "a"], (1, "a")),
        (Types.TUPLE([Types.INT(), Types.STRING()]), Row(2, "b"), (2, "b")),
        (Types.TUPLE([]), (), ()),
        (Types.TUPLE([PAIR]), ((1, "x"),), (Row(a=1, b="x"),)),
        (Types.TUPLE([Types.TUPLE([Types.FLOAT()])]), ((0.1,),), ((0.10000000149011612,),)),
        (Types.ROW([Types.INT(), Types.STRING()]), Row(1, "a"), Row(f0=1, f1="a")),
        (Types.ROW([Types.INT(), Types.STRING()]), Row(None, None), Row(f0=None, f1=None)),
        (Types.ROW([Types.FLOAT()]), Row(None), Row(f0=None)),
        (Types.ROW([Types.TUPLE([Types.INT()])]), Row(None), Row(f0=None)),
        (Types.ROW([]), Row(), convert(Types.ROW([]), ())),
        (PAIR, Row(b="q", a=2), Row(a=2, b="q")),
        (PAIR, (1, "z"), Row(a=1, b="z")),
        (PAIR, [2, "y"], Row(a=2, b="y")),
        (PAIR, {"a": 1}, Row(a=1, b=None)),
        (PAIR, SimpleNamespace(b="x"), Row(a=None, b="x")),
        (PAIR, Named(1, "n"), Row(a=1, b="n")),
        (PAIR, Row(x=1, y="q"), Row(a=1, b="q")),
        (Types.ROW([Types.INT()]), Row(x=1), Row(f0=1)),
        (Types.LIST(Types.INT()), (3, 4), [3, 4]),
        (Types.LIST(Types.INT()), {3}, [3]),
        (Types.LIST(Types.INT()), range(3, 5), [3, 4]),
        (Types.LIST(Types.INT()), {3: "a", 4: "b"}.keys(), [3, 4]),
        (Types.LIST(Types.INT()), np.array([3, 4]), [3, 4]),
        (Types.TUPLE([Types.INT(), Types.INT()]), range(3, 5), (3, 4)),
        (Types.LIST(Types.FLOAT()), [0.1], [0.10000000149011612]),
        (Types.LIST(Types.STRING()), ["a", None], ["a", None]),
        (Types.BASIC_ARRAY(Types.STRING()), ["a", None], ["a", None]),
        (Types.BASIC_ARRAY(Types.INT()), [1, None], [1, None]),
        (Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()])), [(1,), [2], None], [(1,), (2,), None]),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), bytearray(b"ab"), b"ab"),
        (Types.PRIMITIVE_ARRAY(Types.FLOAT()), [0.1], [0.10000000149011612]),
        (Types.MAP(Types.STRING(), Types.STRING()), {"a": None}, {"a": None}),
        (Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 0.1}, {"a": 0.10000000149011612}),
        (Types.MAP(Types.STRING(), Types.STRING()), SimpleNamespace(k="v"), {"k": "v"}),
        (ExternalTypeInfo(Types.INT()), 2.7, 2),
        (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE), dt.datetime(2020, 2, 3), dt.date(2020, 2, 3)),
    ],
)
def test_a_value_that_fits_is_converted(type_info: TypeInformation, value: object, expected: object):
    converted = convert(type_info, value)
    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize(
    ("type_info", "value", "message"),
    [
        (Types.INT(), "5", "declared type is Integer, but the value is '5' of type str"),
        (Types.INT(), None, "only STRING, BIG_INT"),
        (Types.INT(), math.nan, "nan"),
        (Types.STRING(), 5, "declared type is String, but the value is 5 of type int"),
        (Types.STRING(), b"a", "bytes"),
        (Types.CHAR(), "ab", "Char"),
        (Types.CHAR(), None, "Char"),
        (Types.BOOLEAN(), "x", "Boolean"),
        (Types.BOOLEAN(), [], "Boolean"),
        (Types.BOOLEAN(), math.nan, "Boolean"),
        (Types.DOUBLE(), "1", "Double"),
        (Types.FLOAT(), "1", "Float"),
        (Types.BIG_INT(), 2.5, "round it first"),
        (Types.BIG_INT(), math.inf, "BigInteger"),
        (Types.BIG_DEC(), "two", "BigDecimal"),
        (Types.BIG_DEC(), [2], "BigDecimal"),
        (Types.INSTANT(), 5, "Instant"),
        (Types.SQL_DATE(), "2020-01-01", "DateTypeInfo"),
        (Types.SQL_TIME(), 5, "TimeTypeInfo"),
        (Types.SQL_TIMESTAMP(), dt.date(2020, 1, 1), "TimestampTypeInfo"),
        (Types.TUPLE([Types.INT(), Types.INT()]), (1, "b"), r"^field 1: .* 'b'"),
        (Types.TUPLE([Types.INT(), Types.INT()]), (1,), "1 fields instead of 2"),
        (Types.TUPLE([Types.INT()]), 5, "TupleTypeInfo"),
        (Types.TUPLE([Types.INT()]), None, "TupleTypeInfo"),
        (Types.TUPLE([Types.TUPLE([Types.INT()])]), (("x",),), r"^field 0: field 0: "),
        (PAIR, Row(a=1, y="q"), "its fields must be named a, b"),
        (PAIR, Row(1), "1 fields instead of 2"),
        (PAIR, Row(1, 2), r"^field 'b': .*String"),
        (PAIR, {"x": 1}, "RowTypeInfo"),
        (PAIR, 5, "RowTypeInfo"),
        (PAIR, None, "RowTypeInfo"),
        (Types.LIST(Types.INT()), [1, None], r"^element 1: "),
        (Types.LIST(Types.INT()), np.int64(1), "ListTypeInfo"),
        (Types.LIST(Types.INT()), {1: 2}, "ListTypeInfo"),
        (Types.TUPLE([Types.INT()]), {1}, "a set has no order"),
        (Types.DOUBLE(), np.str_("1"), "Double"),
        (Types.LONG(), uuid.UUID(int=5), "Long"),
        (Types.MAP(Types.STRING(), Types.INT()), Letter("a"), "MapTypeInfo"),
        (Types.MAP(Types.STRING(), Types.INT()), Named, "MapTypeInfo"),
        (Types.LIST(Types.STRING()), "ab", "ListTypeInfo"),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), [1], "bytes in Python"),
        (Types.PRIMITIVE_ARRAY(Types.INT()), [None], r"^element 0: "),
        (Types.MAP(Types.STRING(), Types.INT()), {"a": "b"}, r"^value of 'a': "),
        (Types.MAP(Types.STRING(), Types.INT()), {1: 1}, r"^key 1: "),
        (Types.MAP(Types.STRING(), Types.INT()), [("a", 1)], "MapTypeInfo"),
        (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_TIME), 5, "LOCAL_TIME"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_named(type_info: TypeInformation, value: object, message: str):
    with pytest.raises(TypeError, match=message):
        convert(type_info, value)


def test_an_iterator_of_which_an_element_does_not_fit_is_not_taken_for_an_empty_one():
    for outer in (Types.ROW, Types.TUPLE):
        with pytest.raises(TypeError, match="element 1: the declared type is Integer, but the value is 'b'"):
            convert(outer([Types.LIST(Types.INT())]), (iter([1, "b"]),))


@pytest.mark.parametrize(("type_info", "bits"), INTEGER_BITS.items())
def test_integers_are_checked_against_their_range(type_info: TypeInformation, bits: int):
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    assert [convert(type_info, value) for value in (low, high)] == [low, high]
    for value in (low - 1, high + 1):
        with pytest.raises(OverflowError, match=f"{value} does not fit the declared type {type_info}"):
            convert(type_info, value)
        with pytest.raises(OverflowError, match=r"^field 0: "):
            convert(Types.TUPLE([type_info]), (value,))


@pytest.mark.parametrize(
    "type_info",
    [
        Types.STRING(),
        Types.BIG_INT(),
        Types.BIG_DEC(),
        Types.INSTANT(),
        Types.SQL_DATE(),
        Types.SQL_TIME(),
        Types.SQL_TIMESTAMP(),
    ],
)
def test_none_passes_where_pyflink_takes_it(type_info: TypeInformation):
    assert convert(type_info, None) is None
    assert convert(Types.TUPLE([type_info]), (None,)) == (None,)


def test_an_untyped_stream_converts_nothing():
    assert Types.PICKLED_BYTE_ARRAY().converter() is None
    value = ({"any": "thing"}, 1)
    assert convert(Types.TUPLE([Types.PICKLED_BYTE_ARRAY(), Types.INT()]), value) is value


@pytest.mark.parametrize(
    ("type_info", "value"),
    [
        (Types.STRING(), "a"),
        (Types.TUPLE([Types.STRING(), Types.LONG()]), ("a", 1)),
        (PAIR, Row(a=1, b="x")),
        (Types.LIST(Types.LONG()), [1, 2]),
        (Types.MAP(Types.STRING(), Types.LONG()), {"a": 1}),
    ],
)
def test_a_value_that_is_right_already_is_returned_itself(type_info: TypeInformation, value: object):
    assert convert(type_info, value) is value


def test_the_kind_of_a_row_survives_conversion():
    assert convert(PAIR, Row.of_kind(RowKind.DELETE, 1, "a")) == Row.of_kind(RowKind.DELETE, a=1, b="a")
    by_name = convert(PAIR, Row.of_kind(RowKind.UPDATE_AFTER, b="a", a=1))
    assert isinstance(by_name, Row)
    assert by_name.get_row_kind() is RowKind.UPDATE_AFTER


def test_converting_a_row_by_position_leaves_the_original_alone():
    row = Row(1, "a")
    convert(PAIR, row)
    assert row == Row(1, "a")


def test_numpy_values_become_plain_python():
    pairs = [
        (Types.LONG(), np.int64(5)),
        (Types.DOUBLE(), np.float64(0.5)),
        (Types.FLOAT(), np.float32(0.5)),
        (Types.BOOLEAN(), np.bool_(True)),
        (Types.STRING(), np.str_("a")),
    ]
    assert [type(convert(type_info, value)) for type_info, value in pairs] == [int, float, float, bool, str]
    assert convert(Types.PRIMITIVE_ARRAY(Types.INT()), np.array([1, 2])) == [1, 2]


# --- laws, over random types and values that fit them

LEAVES: list[tuple[TypeInformation, st.SearchStrategy]] = [
    (Types.STRING(), st.none() | st.text()),
    (Types.BOOLEAN(), st.booleans()),
    (Types.FLOAT(), st.floats(allow_nan=False) | st.integers(-1000, 1000)),
    (Types.DOUBLE(), st.floats(allow_nan=False) | st.integers(-1000, 1000)),
    (Types.BIG_DEC(), st.none() | st.decimals(allow_nan=False, allow_infinity=False)),
    (Types.SQL_TIME(), st.none() | st.times()),
    (Types.SQL_TIMESTAMP(), st.none() | st.datetimes()),
    (Types.PICKLED_BYTE_ARRAY(), st.integers() | st.text()),
    *[(t, st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)) for t, bits in INTEGER_BITS.items()],
]


def nest(inner: st.SearchStrategy) -> st.SearchStrategy:
    fields = st.lists(inner, min_size=1, max_size=4)
    return st.one_of(
        fields.map(lambda f: (Types.TUPLE([t for t, _ in f]), st.tuples(*[v for _, v in f]))),
        fields.map(lambda f: (Types.ROW([t for t, _ in f]), st.tuples(*[v | st.none() for _, v in f]))),
        fields.map(
            lambda f: (
                Types.ROW_NAMED([f"n{i}" for i in range(len(f))], [t for t, _ in f]),
                st.fixed_dictionaries({f"n{i}": v | st.none() for i, (_, v) in enumerate(f)}),
            )
        ),
        inner.map(lambda e: (Types.LIST(e[0]), st.lists(e[1], max_size=3))),
        inner.map(lambda e: (Types.OBJECT_ARRAY(e[0]), st.lists(e[1] | st.none(), max_size=3))),
        inner.map(
            lambda e: (Types.MAP(Types.STRING(), e[0]), st.dictionaries(st.text(), e[1] | st.none(), max_size=3))
        ),
    )


typed_values = (
    st.recursive(st.sampled_from(LEAVES), nest, max_leaves=6)
    .flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1]))
    .filter(lambda pair: pair[0].converter() is not None)
)


@given(typed_values)
def test_conversion_is_idempotent(pair: tuple[TypeInformation, object]):
    type_info, value = pair
    once = convert(type_info, value)
    assert convert(type_info, once) == once


@given(typed_values)
def test_the_generated_and_the_general_conversion_agree(pair: tuple[TypeInformation, object]):
    type_info, value = pair
    assert convert(type_info, value) == type_info._convert(copy.deepcopy(value))


@given(typed_values)
def test_types_survive_pickling_also_after_they_were_used(pair: tuple[TypeInformation, object]):
    type_info, value = pair
    converted = convert(type_info, value)
    for module in (pickle, cloudpickle):
        again = pickle.loads(module.dumps(type_info))
        assert again == type_info
        assert hash(again) == hash(type_info)
        assert str(again) == str(type_info)
        assert convert(again, value) == converted


@given(typed_values)
def test_every_converted_value_has_a_text(pair: tuple[TypeInformation, object]):
    type_info, value = pair
    converted = convert(type_info, value)
    assert isinstance(type_info.stringify(converted), str)
    assert isinstance(type_info.to_text(converted), str)


def test_a_function_that_refers_to_used_types_can_be_pickled():
    used = Types.TUPLE([Types.STRING(), Types.LONG()])
    convert(used, ("a", 1))
    assert pickle.loads(cloudpickle.dumps(lambda: used))() == used
