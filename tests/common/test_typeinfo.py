from __future__ import annotations

import datetime as dt
import math
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Instant, Row, RowKind, Types
from flintstream.common._text.java import double_text, float_text, narrow
from flintstream.common.typeinfo import BasicType, BasicTypeInfo, ExternalTypeInfo, LocalTimeTypeInfo, TypeInformation
from flintstream.errors import UnsupportedByDesignError


@pytest.mark.parametrize(
    ("type_info", "text"),
    [
        (Types.STRING(), "String"),
        (Types.BYTE(), "Byte"),
        (Types.BOOLEAN(), "Boolean"),
        (Types.SHORT(), "Short"),
        (Types.INT(), "Integer"),
        (Types.LONG(), "Long"),
        (Types.FLOAT(), "Float"),
        (Types.DOUBLE(), "Double"),
        (Types.CHAR(), "Char"),
        (Types.BIG_INT(), "BigInteger"),
        (Types.BIG_DEC(), "BigDecimal"),
        (Types.INSTANT(), "Instant"),
        (Types.SQL_DATE(), "DateTypeInfo"),
        (Types.SQL_TIME(), "TimeTypeInfo"),
        (Types.SQL_TIMESTAMP(), "TimestampTypeInfo"),
        (Types.PICKLED_BYTE_ARRAY(), "PickledByteArrayTypeInfo"),
        (Types.ROW([Types.INT(), Types.STRING()]), "RowTypeInfo(Integer, String)"),
        (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), "RowTypeInfo(a: Integer, b: String)"),
        (Types.TUPLE([Types.INT(), Types.STRING()]), "TupleTypeInfo(Integer, String)"),
        (Types.PRIMITIVE_ARRAY(Types.INT()), "PrimitiveArrayTypeInfo<Integer>"),
        (Types.BASIC_ARRAY(Types.INT()), "BasicArrayTypeInfo<Integer>"),
        (Types.OBJECT_ARRAY(Types.INT()), "ObjectArrayTypeInfo<Integer>"),
        (Types.MAP(Types.INT(), Types.STRING()), "MapTypeInfo<Integer, String>"),
        (Types.LIST(Types.INT()), "ListTypeInfo<Integer>"),
        (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE), "LocalTimeTypeInfo<LOCAL_DATE>"),
        (ExternalTypeInfo(Types.INT()), "ExternalTypeInfo<Integer>"),
    ],
)
def test_types_are_named_as_in_pyflink(type_info: TypeInformation, text: str):
    assert str(type_info) == repr(type_info) == text


def test_types_are_equal_by_structure_and_work_as_keys():
    assert Types.TUPLE([Types.INT()]) == Types.TUPLE([Types.INT()])
    assert len({Types.TUPLE([Types.INT()]), Types.TUPLE([Types.INT()]), Types.TUPLE([Types.LONG()])}) == 2
    assert Types.TUPLE([Types.INT()]) != Types.ROW([Types.INT()])
    assert Types.LIST(Types.INT()) != Types.BASIC_ARRAY(Types.INT())
    assert BasicTypeInfo(BasicType.INT) == Types.INT()


def test_row_types_are_equal_whatever_their_names_as_in_pyflink():
    named = Types.ROW_NAMED(["a"], [Types.INT()])
    assert named == Types.ROW([Types.INT()])
    assert hash(named) == hash(Types.ROW([Types.INT()]))


def test_a_row_type_knows_its_fields():
    named = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    assert named.get_field_names() == ["a", "b"]
    assert named.get_field_types() == [Types.INT(), Types.STRING()]
    assert named.get_field_index("b") == 1
    with pytest.raises(ValueError):
        named.get_field_index("c")
    unnamed = Types.ROW([Types.INT(), Types.INT()])
    assert unnamed.get_field_names() == ["f0", "f1"]
    assert unnamed.get_field_index("f0") == -1


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Types.ROW_NAMED(["a"], [Types.INT(), Types.INT()]), ValueError),
        (lambda: Types.ROW_NAMED(["a", "a"], [Types.INT(), Types.INT()]), ValueError),
        (lambda: Types.TUPLE([Types.INT()] * 26), ValueError),
        (lambda: Types.TUPLE([int]), TypeError),  # type: ignore[list-item]
        (lambda: Types.ROW([Types.INT]), TypeError),  # type: ignore[list-item]
        (lambda: Types.LIST(None), TypeError),  # type: ignore[arg-type]
        (lambda: Types.MAP(Types.INT(), "x"), TypeError),  # type: ignore[arg-type]
        (lambda: Types.PRIMITIVE_ARRAY(Types.STRING()), TypeError),
        (lambda: Types.PRIMITIVE_ARRAY(Types.LIST(Types.INT())), TypeError),
        (lambda: Types.BASIC_ARRAY(Types.LIST(Types.INT())), TypeError),
    ],
)
def test_a_type_that_makes_no_sense_is_refused_when_it_is_made(make, error):
    with pytest.raises(error):
        make()


def test_there_is_no_java_type_behind_a_type():
    with pytest.raises(UnsupportedByDesignError):
        Types.INT().get_java_type_info()


def test_the_internal_form_is_the_converted_value():
    pair = Types.ROW_NAMED(["a"], [Types.FLOAT()])
    assert pair.to_internal_type((0.1,)) == Row(a=0.10000000149011612)
    assert pair.to_internal_type(None) is None
    assert Types.PICKLED_BYTE_ARRAY().to_internal_type(5) == 5
    assert pair.from_internal_type(Row(a=1.0)) == Row(a=1.0)


# --- texts: expected values were printed by PyFlink 2.3.0

MOMENT = dt.datetime(2020, 2, 3, 4, 5, 6, 7000)


@pytest.mark.parametrize(
    ("type_info", "value", "text"),
    [
        (Types.STRING(), "a b", "a b"),
        (Types.BOOLEAN(), True, "true"),
        (Types.INT(), -3, "-3"),
        (Types.BIG_DEC(), Decimal("1E+10"), "1E+10"),
        (Types.BIG_DEC(), Decimal("1.50"), "1.50"),
        (Types.BIG_DEC(), Decimal("1E-10"), "1E-10"),
        (Types.INSTANT(), Instant.of_epoch_milli(0), "1970-01-01T00:00:00Z"),
        (Types.INSTANT(), Instant.of_epoch_milli(1500), "1970-01-01T00:00:01.500Z"),
        (Types.INSTANT(), Instant(1, 123456789), "1970-01-01T00:00:01.123456789Z"),
        (Types.INSTANT(), Instant(1, 5000), "1970-01-01T00:00:01.000005Z"),
        (Types.INSTANT(), Instant.of_epoch_milli(-1), "1969-12-31T23:59:59.999Z"),
        (Types.SQL_DATE(), dt.date(2020, 2, 3), "2020-02-03"),
        (Types.SQL_TIME(), dt.time(1, 2, 3, 456000), "01:02:03"),
        (Types.SQL_TIMESTAMP(), dt.datetime(2020, 2, 3, 4, 5, 6), "2020-02-03 04:05:06.0"),
        (Types.SQL_TIMESTAMP(), dt.datetime(2020, 2, 3, 4, 5, 6, 789000), "2020-02-03 04:05:06.789"),
        (
            Types.TUPLE(
                [
                    Types.STRING(),
                    Types.INT(),
                    Types.DOUBLE(),
                    Types.BOOLEAN(),
                    Types.LIST(Types.INT()),
                    Types.MAP(Types.STRING(), Types.INT()),
                ]
            ),
            ("a", 1, 2.5, True, [1, 2], {"k": 1}),
            "(a,1,2.5,true,[1, 2],{k=1})",
        ),
        (Types.TUPLE([Types.STRING(), Types.STRING()]), ("a", None), "(a,null)"),
        (
            Types.TUPLE([Types.STRING(), Types.TUPLE([Types.INT(), Types.ROW([Types.INT(), Types.STRING()])])]),
            ("a", (1, Row(2, "x"))),
            "(a,(1,+I[2, x]))",
        ),
        (
            Types.TUPLE(
                [
                    Types.PRIMITIVE_ARRAY(Types.INT()),
                    Types.BASIC_ARRAY(Types.STRING()),
                    Types.PRIMITIVE_ARRAY(Types.BYTE()),
                ]
            ),
            ([1, 2], ["a"], b"x\xff"),
            "([1, 2],[a],[120, -1])",
        ),
        (Types.LIST(Types.ROW([Types.INT()])), [Row(1)], "[+I[1]]"),
        (Types.MAP(Types.STRING(), Types.LIST(Types.INT())), {"a": [1, 2]}, "{a=[1, 2]}"),
        (Types.LIST(Types.STRING()), [], "[]"),
        (Types.PICKLED_BYTE_ARRAY(), (1, "x"), "(1, 'x')"),
        (Types.PICKLED_BYTE_ARRAY(), None, "None"),
        (ExternalTypeInfo(Types.DOUBLE()), 1e10, "1.0E10"),
        (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME), MOMENT, "2020-02-03T04:05:06.007"),
    ],
)
def test_both_texts_of_a_value_are_those_of_java(type_info: TypeInformation, value: object, text: str):
    assert type_info.to_text(value) == text
    assert type_info.stringify(value) == text


@pytest.mark.parametrize(
    ("types", "row", "printed", "written"),
    [
        ([Types.STRING(), Types.STRING(), Types.DOUBLE()], Row("a", None, 1.5), "+I[a,None,1.5]", "+I[a, null, 1.5]"),
        (
            [Types.STRING(), Types.DOUBLE()],
            Row.of_kind(RowKind.DELETE, "a", 1e10),
            "-D[a,10000000000.0]",
            "-D[a, 1.0E10]",
        ),
        ([Types.BOOLEAN()], Row(x=True), "+I[True]", "+I[true]"),
        (
            [Types.LIST(Types.STRING()), Types.MAP(Types.STRING(), Types.DOUBLE()), Types.SQL_TIMESTAMP()],
            Row(["a"], {"k": 1.0}, MOMENT),
            "+I[['a'],{'k': 1.0},2020-02-03 04:05:06.007000]",
            "+I[[a], {k=1.0}, 2020-02-03 04:05:06.007]",
        ),
    ],
)
def test_python_writes_the_fields_of_a_printed_row_and_java_those_of_a_written_one(types, row, printed, written):
    assert Types.ROW(types).to_text(row) == printed
    assert Types.ROW(types).stringify(row) == written


@pytest.mark.parametrize(
    "type_info",
    [Types.STRING(), Types.DOUBLE(), Types.SQL_TIME(), Types.ROW([]), Types.TUPLE([]), Types.LIST(Types.INT())],
)
def test_none_is_written_as_null(type_info: TypeInformation):
    assert type_info.to_text(None) == type_info.stringify(None) == "null"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (1e10, "1.0E10"),
        (0.1, "0.1"),
        (1e-5, "1.0E-5"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (-0.0, "-0.0"),
        (1e300, "1.0E300"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.0009999, "9.999E-4"),
        (123456.789, "123456.789"),
        (-1.5, "-1.5"),
        (5e-324, "4.9E-324"),
    ],
)
def test_doubles_are_written_as_java_writes_them(value: float, text: str):
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.4e38, "3.4E38"),
        (16777216.0, "1.6777216E7"),
        (0.1, "0.1"),
        (1e7, "1.0E7"),
        (110.1, "110.1"),
        (1e39, "Infinity"),
    ],
)
def test_floats_are_written_with_the_digits_of_32_bits(value: float, text: str):
    assert float_text(value) == text


def from_java(text: str) -> float:
    return float(text.replace("Infinity", "inf"))


@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_tells_the_number(value: float):
    assert from_java(double_text(value)) == value


@given(st.floats(allow_nan=False))
def test_the_text_of_a_float_tells_the_32_bit_number(value: float):
    assert narrow(from_java(float_text(value))) == narrow(value)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_narrowing_keeps_what_is_narrow(value: float):
    assert struct.pack("d", narrow(value)) == struct.pack("d", value)


@given(st.datetimes(min_value=dt.datetime(1, 1, 1), max_value=dt.datetime(9999, 12, 31)))
def test_the_text_of_an_instant_is_its_date_and_time(moment: dt.datetime):
    moment = moment.replace(tzinfo=dt.timezone.utc)
    delta = moment - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
    seconds, micros = divmod(delta // dt.timedelta(microseconds=1), 1_000_000)
    text = Types.INSTANT().stringify(Instant(seconds, micros * 1000))
    assert text.endswith("Z")
    assert dt.datetime.fromisoformat(f"{text[:-1]}+00:00") == moment  # Python 3.10 does not read a Z
