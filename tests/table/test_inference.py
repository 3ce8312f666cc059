"""Types that ``from_elements`` infers: results of PyFlink 2.3, and what it cannot read."""

import array
from collections import namedtuple
from datetime import datetime, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Row
from flintstream.common._types.inference import infer_schema
from flintstream.errors import PlanError
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table.types import _infer_type, _merge_type

Point = namedtuple("Point", "x y")  # noqa: PYI024 - one without types
TEXT = "VarCharType(2147483647, true)"
KEY = "VarCharType(2147483647, false)"


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


@pytest.fixture
def t_env():
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def told(table):
    schema = table.get_schema()
    with table.execute().collect() as rows:
        return {name: repr(schema.get_field_data_type(name)) for name in schema.get_field_names()}, list(map(str, rows))


@pytest.mark.parametrize(
    ("elements", "types", "rows"),
    [
        ([(Decimal("1.5"),)], ["DecimalType(38, 18, true)"], ["<Row(Decimal('1.500000000000000000'))>"]),
        ([(array.array("d", [1.5]),)], ["ArrayType(DoubleType(false), true)"], ["<Row([1.5])>"]),
        ([(array.array("f", [1.5]),)], ["ArrayType(FloatType(false), true)"], ["<Row([1.5])>"]),
        ([(array.array("i", [1, 2]),)], ["ArrayType(IntType(false), true)"], ["<Row([1, 2])>"]),
        ([(array.array("b", [1, 2]),)], ["ArrayType(TinyIntType(false), true)"], ["<Row([1, 2])>"]),
        ([(array.array("H", [1, 2]),)], ["ArrayType(IntType(false), true)"], ["<Row([1, 2])>"]),
        ([(array.array("I", [1, 2]),)], ["ArrayType(BigIntType(false), true)"], ["<Row([1, 2])>"]),
        ([([],), ([1],)], ["ArrayType(BigIntType(true), true)"], ["<Row([])>", "<Row([1])>"]),
        ([({},), ({"a": 1},)], [f"MapType({KEY}, BigIntType(true), true)"], ["<Row({})>", "<Row({'a': 1})>"]),
        ([(Point(1, 2.5),)], ["RowType(RowField(x, BigIntType(true), ...),RowField(y, DoubleType(true), ...))"], None),
        ([(None, 1), (2.5, None)], ["DoubleType(true)", "BigIntType(true)"], ["<Row(None, 1)>", "<Row(2.5, None)>"]),
        ([(bytearray(b"a"),)], ["VarBinaryType(2147483647, true)"], None),
    ],
)
def test_values_without_names_have_the_types_of_pyflink(t_env, elements, types, rows):
    found, values = told(t_env.from_elements(elements))
    assert list(found.values()) == types
    assert list(found) == [f"_{i}" for i in range(1, len(types) + 1)]
    assert rows is None or values == rows


@pytest.mark.parametrize(
    "elements",
    [
        [{"a": 1, "b": "x"}, {"b": None, "a": 2}],
        [Plain(b="x", a=1), Plain(b=None, a=2)],
        [Row(a=1, b="x"), Row(b=None, a=2)],
    ],
    ids=["dicts", "objects", "rows"],
)
def test_elements_with_names_are_columns_by_their_names(t_env, elements):
    assert told(t_env.from_elements(elements)) == (
        {"a": "BigIntType(true)", "b": TEXT},
        ["<Row(1, 'x')>", "<Row(2, None)>"],
    )


def test_a_named_tuple_keeps_its_names_although_others_are_given(t_env):
    assert told(t_env.from_elements([Point(1, 2)], ["a", "b"]))[0] == {
        "x": "BigIntType(true)",
        "y": "BigIntType(true)",
    }


def test_elements_with_names_fill_the_columns_of_a_schema(t_env):
    schema = DataTypes.ROW([DataTypes.FIELD("b", DataTypes.STRING()), DataTypes.FIELD("a", DataTypes.INT())])
    elements = [{"a": 1, "b": "x"}, {"a": 2}, Row(a=3, b="y"), Plain(a=4), ("z", 5)]
    assert told(t_env.from_elements(elements, schema))[1] == [
        "<Row('x', 1)>",
        "<Row(None, 2)>",
        "<Row('y', 3)>",
        "<Row(None, 4)>",
        "<Row('z', 5)>",
    ]


def test_a_simple_type_is_that_of_one_column(t_env):
    assert told(t_env.from_elements([1, 2], DataTypes.INT())) == ({"value": "IntType(true)"}, ["<Row(1)>", "<Row(2)>"])


def test_a_time_is_a_moment(t_env):
    found, values = told(t_env.from_elements([(datetime(2020, 1, 2, 3, tzinfo=timezone.utc),)]))
    assert found == {"_1": "LocalZonedTimestampType(6, true)"}
    assert "datetime.datetime(2020, 1, 2, 3, 0" in values[0]


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ([(True,), (1,)], "field _1: BooleanType and BigIntType cannot be merged"),
        ([(1,), (1.5,)], "field _1: BigIntType and DoubleType cannot be merged"),
        ([([1],), ([1.5],)], "element in array field _1: BigIntType and DoubleType cannot be merged"),
        ([((1, "a"),), ((1, 2),)], "field _2 in field _1: VarCharType and BigIntType cannot be merged"),
        ([(1, 2), (1,)], "field _2: BigIntType and no value cannot be merged"),
        ([{"a": 1}, {"b": "x"}], "field a: BigIntType and no value cannot be merged"),
        ([({1, 2},)], "type set, which tables do not support"),
        ([(array.array("q", [1]),)], "tables do not support array.array"),
    ],
)
def test_values_that_do_not_fit_one_column_are_refused(t_env, elements, words):
    with pytest.raises(TypeError, match=words):
        t_env.from_elements(elements)


def test_a_column_without_a_value_has_no_type(t_env):
    with pytest.raises(PlanError, match="the type of column '_1' cannot be inferred"):
        t_env.from_elements([(None, 1)])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner, inner),
    max_leaves=4,
)


@given(VALUES)
def test_the_type_of_a_value_merges_with_itself_and_with_null(value):
    try:
        kind = _infer_type(value)
    except TypeError:
        return
    assert _merge_type(kind, kind) == kind
    assert _merge_type(DataTypes.NULL(), kind) == _merge_type(kind, DataTypes.NULL()) == kind


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=6))
def test_a_schema_is_that_of_all_elements_however_often_types_repeat(elements):
    def inferred(given_elements):
        try:
            return infer_schema(given_elements)
        except (TypeError, PlanError) as error:
            return type(error)

    assert inferred(elements) == inferred([item for item in elements for _ in range(2)])
    assert inferred(elements) == inferred(list(map(list, elements)))  # of lists, each one counts
