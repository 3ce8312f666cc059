"""Expressions of the Table API: their names, arguments and operators."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table import expressions as ex
from flintstream.table._errors import SqlError
from flintstream.table.expression import TimeIntervalUnit, TimePointUnit
from flintstream.table.expressions import col, lit

CASES = [
    (lit("a b").upper_case, "A B"),
    (lit("abc").substring(2), "bc"),
    (lit("abc").substring(begin_index=2, length=1), "b"),
    (lit(" x ").trim(), "x"),
    (lit("xax").trim("x"), "a"),
    (lit("xax").trim_leading("x"), "ax"),
    (lit("xax").trim_trailing("x"), "xa"),
    (lit(" x").ltrim(), "x"),
    (lit("a_b").like("a!_b", "!"), True),
    (lit(2.5).floor(), 2),
    (lit(2.5).ceil(), 3),
    (lit(8).log(2), 3.0),
    (lit(2) ** 3, 8.0),
    (abs(lit(-2)), 2),
    (~lit(True), False),
    (lit(5).not_between(1, 3), True),
    (lit("2020-01-31").to_date, dt.date(2020, 1, 31)),
    (lit(dt.date(2020, 2, 3)).extract(TimeIntervalUnit.MONTH), 2),
    (lit(dt.datetime(2020, 2, 3, 4)).floor(TimeIntervalUnit.MONTH), dt.datetime(2020, 2, 1)),
    (lit("abc").locate("b"), 0),
    (lit("b").locate("abc"), 2),
    (lit("abc").instr("b"), 2),
    (lit("abc").starts_with("a"), True),
    (ex.array(3, 1, 2).array_sort(), [1, 2, 3]),
    (ex.array(3, 1, 2).array_contains(1), True),
    (ex.array(3, 1)[1], 3),
    (ex.map_("a", 1, "b", 2).map_keys, ["a", "b"]),
    (ex.row(1, "x").get(1), "x"),
    (ex.concat_ws("-", "a", "b"), "a-b"),
    (ex.to_date("2020-01-31"), dt.date(2020, 1, 31)),
    (ex.timestamp_diff(TimePointUnit.DAY, lit(dt.date(2020, 1, 1)), lit(dt.date(2020, 1, 31))), 30),
    (ex.negative(lit(3)), -3),
    (ex.call_sql("UPPER('x') || 'y'"), "Xy"),
    (ex.log(8, 2), 3.0),
    (ex.current_database(), "default_database"),
    (lit("127.0.0.1").inet_aton(), 2130706433),
    (lit(2130706433).inet_ntoa(), "127.0.0.1"),
]


def test_functions_give_what_those_of_sql_give(t_env):
    expressions = [expression.alias(f"e{i}") for i, (expression, _) in enumerate(CASES)]
    with t_env.from_elements([(1,)], ["one"]).select(*expressions).execute().collect() as found:
        (row,) = found
    assert [(repr(item), value) for (item, _), value in zip(CASES, row, strict=True)] == [
        (repr(item), value) for item, value in CASES
    ]


def test_columns_are_chosen_by_name_position_and_range(t_env):
    table = t_env.from_elements([(1, 2, 3, 4)], ["a", "b", "c", "d"])

    def names(*fields):
        return table.select(*fields).get_schema().get_field_names()

    assert names(ex.with_columns(ex.range_("b", "c"), 1)) == ["b", "c", "a"]
    assert names(ex.without_columns(col("b"))) == ["a", "c", "d"]
    assert names(ex.with_all_columns()) == ["a", "b", "c", "d"]


def test_an_unknown_function_is_named_with_the_nearest_one():
    with pytest.raises(AttributeError, match=r"uper_case.*upper_case"):
        _ = col("a").uper_case


@given(st.integers(3, 6))
def test_too_many_arguments_are_refused_when_the_expression_is_built(count):
    with pytest.raises(TypeError, match=r"substring\(\) takes \(begin_index, length\?\)"):
        col("a").substring(*range(count))


def test_an_unknown_argument_is_refused_when_the_expression_is_built():
    with pytest.raises(TypeError, match=r"lpad\(\) takes"):
        col("a").lpad(3, padding="x")


def test_what_is_not_supported_is_refused_at_planning(t_env):
    table = t_env.from_elements([(1,)], ["a"])
    with pytest.raises(SqlError, match="CURRENT_WATERMARK"):
        table.select(ex.current_watermark(col("a")))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_the_current_watermark_is_that_before_the_row(tmp_path, parallelism):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    t_env = StreamTableEnvironment.create(env.set_parallelism(parallelism))
    for name, kind, zone in (("s", "TIMESTAMP(3)", ""), ("z", "TIMESTAMP_LTZ(3)", "Z")):
        texts = (f"2024-05-01 12:00:{second:02}{zone}\n" for second in (1, 5, 3, 9, 2))
        (tmp_path / name).write_text("".join(texts))
        t_env.execute_sql(
            f"CREATE TABLE {name} (at {kind}, WATERMARK FOR at AS at - INTERVAL '1' SECOND) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{name}', 'format' = 'csv')"
        )
        table = t_env.from_path(name)
        table = table.select(col("at"), ex.current_watermark(col("at")).alias("w"))
        with table.execute().collect() as rows:
            seen = {row[0].second: row[1] and row[1].second for row in rows}
        assert seen == {1: None, 5: 0, 3: 4, 9: 4, 2: 8}
        query = (
            "SELECT EXTRACT(SECOND FROM at) FROM s WHERE CURRENT_WATERMARK(at) IS NULL OR at > CURRENT_WATERMARK(at)"
        )
        with t_env.execute_sql(query).collect() as rows:
            assert sorted(row[0] for row in rows) == [1, 5, 9]


def test_a_row_is_flattened_into_columns(t_env):
    table = t_env.from_elements([(1, "x")], ["a", "b"]).select(ex.row(col("a"), col("b")).alias("r"))
    with table.select(col("r").flatten).execute().collect() as found:
        assert [list(item) for item in found] == [[1, "x"]]
