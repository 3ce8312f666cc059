"""IN with a table in expressions of the Table API."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.expressions import col


@pytest.fixture
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
    return t_env


def test_a_table_with_several_columns_is_refused(t_env):
    pairs = t_env.from_elements([(1, "x")], ["a", "b"])
    with pytest.raises(SqlError, match="IN compares 1 values with a subquery of 2 columns"):
        pairs.where(col("a").in_(pairs))


def test_a_join_takes_no_table_within_its_condition(t_env):
    left, right = t_env.from_elements([(1,)], ["a"]), t_env.from_elements([(1,)], ["b"])
    with pytest.raises(UnsupportedClauseError, match="IN with a subquery"):
        left.join(right, col("a").in_(right))


def test_the_result_has_only_the_columns_of_the_table(t_env):
    numbers, few = t_env.from_elements([(1,), (2,)], ["a"]), t_env.from_elements([(2,)], ["c"])
    assert (~col("a").in_(few)).__str__().startswith("isNotTrue(in(a, UnnamedTable$")
    rest = numbers.where(~col("a").in_(few) | (col("a") > 7))
    assert rest.get_schema().get_field_names() == ["a"]
    assert [tuple(row) for row in rest.execute().collect()] == [(1,)]
