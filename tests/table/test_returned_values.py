"""What Python functions return is brought to the declared type, in functions of every kind."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import AggregateFunction, DataTypes, StreamTableEnvironment, TableAggregateFunction
from flintstream.table._expressions.python_values import converter_of
from flintstream.table._types.reader import data_type_of
from flintstream.table.expressions import col
from flintstream.table.udf import udaf, udf, udtaf, udtf

RECORDED = json.loads((Path(__file__).parent / "returned_values.json").read_text())
"""Types, values in Python, and their texts in PyFlink 2.3; FAIL where it fails."""


class Returns(AggregateFunction):
    """An aggregate function with a fixed result."""

    def __init__(self, value):
        self.value = value

    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, *_):
        accumulator[0] += 1

    def get_value(self, _):
        return self.value


class Emits(TableAggregateFunction):
    """A table aggregate function with one row."""

    def __init__(self, value):
        self.value = value

    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, *_):
        accumulator[0] += 1

    def emit_value(self, _):
        yield Row(self.value)


async def awaited(value):
    return value


def returning(kind, value, result):
    """Return a function of a kind that returns a value."""
    if kind == "udf":
        return udf(lambda _: value, result_type=result)
    if kind == "async":

        async def later(_):
            return await awaited(value)

        return udf(later, result_type=result)
    if kind == "udtf":
        return udtf(lambda _: [Row(value)], result_types=[result])
    if kind == "udtaf":
        row = DataTypes.ROW([DataTypes.FIELD("x", result)])
        return udtaf(Emits(value), result_type=row)
    return udaf(Returns(value), result_type=result)


@pytest.fixture(scope="module")
def t_env():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_view("o1", t_env.from_elements([(1,)], ["id"]))
    return t_env


def text_of(t_env, kind, value, result):
    """Return the text of what a function returns."""
    call = returning(kind, value, result)(col("id"))
    o1 = t_env.from_path("o1")
    if kind == "udtf":
        made = o1.join_lateral(call.alias("x")).select(col("x").cast(DataTypes.STRING()))
    elif kind == "udtaf":
        made = o1.flat_aggregate(call.alias("x")).select(col("x")).select(col("x").cast(DataTypes.STRING()))
    else:
        made = o1.select(call.alias("x")).select(col("x").cast(DataTypes.STRING()))
    with made.execute().collect() as rows:
        return [row[0] for row in rows][-1]


@pytest.mark.parametrize(("declared", "written", "expected"), RECORDED)
def test_values_are_converted_as_in_pyflink(t_env, declared, written, expected):
    names = {"datetime": dt, "Decimal": Decimal, "Row": Row, "bytearray": bytearray}
    value = eval(written, names)  # noqa: S307 - our own file
    if expected == "FAIL":
        with pytest.raises((TypeError, ValueError, OverflowError, AttributeError)):
            text_of(t_env, "udf", value, data_type_of(declared))
    else:
        assert text_of(t_env, "udf", value, data_type_of(declared)) == expected


@pytest.mark.parametrize("kind", ["udf", "async", "udtf", "udaf", "udtaf"])
@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("DECIMAL(10, 2)", Decimal("1.005"), "1.00"),
        ("TIMESTAMP(3)", dt.datetime(2020, 1, 1, 0, 0, 0, 123456), "2020-01-01 00:00:00.123"),
        ("ROW<a DECIMAL(10, 2), b ARRAY<INT>>", Row(Decimal("1.015"), [1, None]), "(1.02, [1, NULL])"),
        ("MAP<STRING, DECIMAL(10, 2)>", {"a": Decimal("1.005"), "b": None}, "{a=1.00, b=NULL}"),
    ],
)
def test_every_kind_of_function_converts(t_env, kind, declared, value, expected):
    assert text_of(t_env, kind, value, data_type_of(declared)) == expected


def test_none_is_refused_within_values_that_are_not_nullable(t_env):
    with pytest.raises(TypeError, match="the declared type is INT NOT NULL, but the value is None"):
        text_of(t_env, "udf", [1, None], data_type_of("ARRAY<INT NOT NULL>"))


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9), st.integers(0, 6)
)
def test_a_decimal_has_the_digits_of_its_type(value, scale):
    convert = converter_of(DataTypes.DECIMAL(20, scale))
    assert convert is not None
    made = convert(value)
    assert isinstance(made, Decimal)
    assert made.as_tuple().exponent == -scale
    assert abs(made - value) <= Decimal(5).scaleb(-scale - 1)
