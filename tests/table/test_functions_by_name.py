"""Functions are called by the names that Flink has for them, and small parts of the API do what PyFlink's do."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

import importlib
import sys

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import AggregateFunction, DataTypes, ListView, MapView
from flintstream.table._errors import SqlError
from flintstream.table.expressions import call, col, lit, row
from flintstream.table.udf import udaf, udf


@pytest.fixture
def letters(t_env):
    return t_env.from_elements([(1, "a"), (2, "b"), (2, "b")], ["id", "k"])


def last(table):
    with table.execute().collect() as rows:
        return [*rows][-1][0]


@pytest.mark.parametrize(
    ("name", "column", "more", "expected"),
    [
        ("sum", "id", [], 5),
        ("SUM", "id", [], 5),
        ("sum0", "id", [], 5),
        ("max", "id", [], 2),
        ("min", "id", [], 1),
        ("avg", "id", [], 1),
        ("count", "id", [], 3),
        ("collect", "id", [], {1: 1, 2: 2}),
        ("first_value", "id", [], 1),
        ("last_value", "id", [], 2),
        ("stddevPop", "id", [], 0),
        ("varSamp", "id", [], 0),
        ("charLength", "k", [], 1),
        ("upper", "k", [], "B"),
        ("substring", "k", [1, 1], "b"),
        ("plus", "id", [2], 4),
        ("isNull", "id", [], False),
        ("isNotNull", "id", [], True),
        ("greaterThanOrEqual", "id", [2], True),
        ("concat", "k", ["x"], "bx"),
    ],
)
def test_call_finds_functions_and_aggregates_by_the_names_of_flink(letters, name, column, more, expected):
    assert last(letters.select(call(name, col(column), *more))) == expected


def test_aggregates_by_name_count_groups_and_distinct_values(letters):
    table = letters.group_by(col("k")).select(call("sum", col("id")), col("k"))
    with table.execute().collect() as rows:
        assert [tuple(item) for item in rows] == [(1, "a"), (2, "b"), (2, "b"), (4, "b")]
    assert last(letters.select(call("count", col("id")).distinct)) == 2
    assert last(letters.filter(call("isNull", col("k")).is_false).select(call("count", col("k")))) == 3


def test_a_name_that_is_no_function_is_an_error(letters):
    with pytest.raises(SqlError, match="No match found for function 'nosuch'"):
        letters.select(call("nosuch", col("id")))


def test_a_function_of_the_program_replaces_one_of_the_same_name(t_env, letters):
    t_env.create_temporary_view("letters", letters)
    t_env.create_temporary_function("upper", udf(lambda text: f"mine {text}", result_type=DataTypes.STRING()))
    t_env.create_temporary_system_function("charLength", udf(lambda text: -1, result_type=DataTypes.INT()))
    assert last(t_env.sql_query("SELECT UPPER(k) FROM letters")) == "mine b"
    assert last(letters.select(call("charLength", col("k")))) == -1


class Views(AggregateFunction):
    """Keeps values in both kinds of views, and removes keys while it reads them."""

    def create_accumulator(self):
        return [ListView(), MapView()]

    def accumulate(self, accumulator, value):
        accumulator[0].add(value)
        accumulator[1][value] = (accumulator[1].get(value) or 0) + 1

    def get_value(self, accumulator):
        keys = accumulator[1].keys()
        seen = []
        for key in keys:
            seen.append(key)
            if accumulator[1][key] > 1:
                keys.remove()
        return f"{','.join(accumulator[0])} {seen} {sorted(accumulator[1].keys())}"

    def get_result_type(self):
        return DataTypes.STRING()

    def get_accumulator_type(self):
        views = DataTypes.LIST_VIEW(DataTypes.STRING()), DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.INT())
        return DataTypes.ROW([DataTypes.FIELD("list", views[0]), DataTypes.FIELD("map", views[1])])


def test_views_in_accumulators_have_types_and_their_keys_can_be_removed(letters):
    assert last(letters.group_by(lit(1)).select(udaf(Views())(col("k")))) == "a,b,b ['a', 'b'] ['a']"


def test_keys_that_are_not_there_cannot_be_removed():
    keys = MapView().keys()
    with pytest.raises(ValueError, match="needs a key"):
        keys.remove()


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)), "DAY_TO_SECOND"),
        (DataTypes.INTERVAL(DataTypes.YEAR(4)), "YEAR"),
        (DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH()), "YEAR_TO_MONTH"),
        (DataTypes.INTERVAL(DataTypes.HOUR(), DataTypes.MINUTE()), "HOUR_TO_MINUTE"),
    ],
)
def test_intervals_go_from_one_unit_to_another(made, name):
    assert made.resolution.name == name
    assert made == made.not_null().nullable()


@pytest.mark.parametrize(
    "units", [(DataTypes.MONTH(), DataTypes.DAY()), (DataTypes.SECOND(), DataTypes.DAY()), (DataTypes.DAY(7),)]
)
def test_intervals_that_flink_does_not_have_are_refused(units):
    with pytest.raises(ValueError, match="interval"):
        DataTypes.INTERVAL(*units)


def test_rows_of_elements_may_be_expressions(t_env):
    schema = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.STRING())])
    with t_env.from_elements([row(1, "abc"), (2, "d")], schema).execute().collect() as rows:
        assert [tuple(item) for item in rows] == [(1, "abc"), (2, "d")]


def test_of_two_python_files_with_one_name_the_newer_one_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    for name in ("older", "newer"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "chosen_by_age.py").write_text(f"NAME = {name!r}")
        env.add_python_file(str(tmp_path / name / "chosen_by_age.py"))
    assert importlib.import_module("chosen_by_age").NAME == "newer"
    monkeypatch.delitem(sys.modules, "chosen_by_age")


def test_a_function_of_the_program_replaces_an_operator_of_the_table_api(t_env, letters):
    t_env.create_temporary_view("letters", letters)
    t_env.create_temporary_system_function("plus", udf(lambda a, b: a + b - 1, result_type=DataTypes.BIGINT()))
    assert last(letters.select(col("id") + col("id"))) == 3
    assert last(t_env.sql_query("SELECT id + id FROM letters")) == 4


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("CAST(1.05 AS DECIMAL)", "1.05"),
        ("CAST(1.005 AS DECIMAL(10, 2))", "1.005"),
        ("CAST(id * 1.05 AS DECIMAL)", "2"),
    ],
)
def test_literals_of_decimal_keep_their_digits_in_functions(t_env, letters, argument, expected):
    t_env.create_temporary_view("letters", letters)
    t_env.create_temporary_function("text", udf(lambda value: f"{value}", result_type=DataTypes.STRING()))
    assert last(t_env.sql_query(f"SELECT text({argument}) FROM letters")) == expected
