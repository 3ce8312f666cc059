"""The type of rows for a schema, and the schema for a type; needs PySpark, but no session."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

from flintstream.common import Types
from flintstream.common.typeinfo import LocalTimeTypeInfo
from flintstream.engine.frames.data_frames import frame_schema
from flintstream.engine.spark.columns.schemas import row_type, schema_of
from flintstream.errors import PlanError

EXACT = [
    spark.BooleanType(),
    spark.ByteType(),
    spark.ShortType(),
    spark.IntegerType(),
    spark.LongType(),
    spark.FloatType(),
    spark.DoubleType(),
    spark.StringType(),
    spark.BinaryType(),
    spark.DecimalType(38, 18),
    spark.DateType(),
    spark.TimestampType(),
    spark.TimestampNTZType(),
]
LEAVES = st.sampled_from(EXACT)
FIELD_NAMES = st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=3, unique=True)


def struct(names, kinds):
    fields = zip(names, kinds, strict=False)
    return spark.StructType([spark.StructField(name, kind) for name, kind in fields])


def structs(parts):
    return st.builds(struct, FIELD_NAMES, st.lists(parts, min_size=1, max_size=3))


TYPES = st.recursive(
    LEAVES, lambda parts: structs(parts) | parts.map(spark.ArrayType) | st.builds(spark.MapType, LEAVES, parts)
)


@given(structs(TYPES))
def test_a_schema_becomes_a_type_and_the_same_schema_again(schema):
    kind = row_type(schema)
    assert kind.get_field_names() == schema.fieldNames()
    assert schema_of(kind) == schema


def column(kind):
    return row_type(spark.StructType([spark.StructField("a", kind)])).get_field_types()[0]


def test_types_are_the_exact_ones():
    assert column(spark.ByteType()) == Types.BYTE()
    assert column(spark.BinaryType()) == Types.PRIMITIVE_ARRAY(Types.BYTE())
    assert column(spark.TimestampType()) == Types.INSTANT()
    assert column(spark.TimestampNTZType()) == LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME)
    assert column(spark.DecimalType(5, 2)) == Types.BIG_DEC()
    assert column(spark.VarcharType(3)) == Types.STRING()
    assert column(spark.NullType()) == Types.STRING()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (spark.DayTimeIntervalType(), r"column 'a' is of type interval day to second, which is not supported"),
        (spark.ArrayType(spark.VariantType()), r"column 'a\[\]' is of type variant"),
        (struct(["x"], [spark.CalendarIntervalType()]), r"column 'a\.x' is of type interval"),
        (struct(["x", "x"], [spark.LongType()] * 2), r"column 'a' has several columns 'x'"),
        (spark.MapType(spark.ArrayType(spark.LongType()), spark.LongType()), r"column 'a' .* cannot be dict keys"),
        (spark.MapType(spark.LongType(), spark.YearMonthIntervalType()), r"column 'a\.value' is of type interval year"),
    ],
)
def test_a_column_without_a_counterpart_is_named_with_its_type(kind, message):
    with pytest.raises(PlanError, match=message):
        column(kind)


def test_two_columns_of_one_name_are_an_error():
    with pytest.raises(PlanError, match=r"the DataFrame has several columns 'b'"):
        row_type(struct(["a", "b", "b"], [spark.LongType()] * 3))


def test_tuples_and_rows_without_names_have_columns_with_numbers():
    assert schema_of(Types.TUPLE([Types.INT(), Types.TUPLE([Types.CHAR()])])).simpleString() == (
        "struct<f0:int,f1:struct<f0:string>>"
    )
    assert schema_of(Types.ROW([Types.BIG_INT()])).simpleString() == "struct<f0:decimal(38,0)>"


def test_lists_and_arrays_are_arrays():
    kinds: list[Any] = [Types.LIST, Types.PRIMITIVE_ARRAY, Types.BASIC_ARRAY, Types.OBJECT_ARRAY]
    declared = Types.TUPLE([kind(Types.INT()) for kind in kinds] + [Types.SQL_TIMESTAMP(), Types.SQL_DATE()])
    assert [field.dataType.simpleString() for field in schema_of(declared)] == [
        *["array<int>"] * 4,
        "timestamp_ntz",
        "date",
    ]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Types.PICKLED_BYTE_ARRAY(), r"column 'a' is of type PickledByteArrayTypeInfo"),
        (Types.LIST(Types.SQL_TIME()), r"column 'a\[\]' is of type TimeTypeInfo"),
        (Types.MAP(Types.STRING(), Types.PICKLED_BYTE_ARRAY()), r"column 'a\.value' is of type Pickled"),
        (Types.TUPLE([Types.PICKLED_BYTE_ARRAY()]), r"column 'a\.f0' is of type Pickled"),
    ],
)
def test_a_field_without_a_counterpart_is_named_with_its_type(kind, message):
    with pytest.raises(PlanError, match=message):
        schema_of(Types.ROW_NAMED(["a"], [kind]))


def test_a_stream_of_single_values_has_no_columns():
    with pytest.raises(PlanError, match=r"the records of this stream are of type Long: declare output_type"):
        frame_schema(None, Types.LONG())
    with pytest.raises(PlanError, match=r"the stream has no type .* or pass a schema"):
        frame_schema(None, None)


def test_a_schema_that_is_none_is_refused():
    with pytest.raises(TypeError, match=r"a schema must be a StructType .* but got 7"):
        frame_schema(7, None)
    with pytest.raises(PlanError, match=r"column 'a' is of type void"):
        frame_schema(struct(["a"], [spark.NullType()]), None)
