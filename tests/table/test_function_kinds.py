"""Functions on data of pandas and asynchronous ones give a result for each row, and are opened and closed."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import AggregateFunction, AsyncScalarFunction, DataTypes, ScalarFunction
from flintstream.table.udf import udaf, udf

SOURCE = "(VALUES (1, 'a'), (2, CAST(NULL AS STRING)), (CAST(NULL AS INT), 'c')) AS T(n, s)"


def results(t_env, name, function, arguments):
    t_env.create_temporary_function(name, function)
    with t_env.execute_sql(f"SELECT {name}({arguments}) FROM {SOURCE}").collect() as rows:
        return [row[0] for row in rows]


def test_functions_of_pandas_get_series(t_env):
    pytest.importorskip("pandas")
    add = udf(lambda n: n + 1, [DataTypes.INT()], DataTypes.INT(), func_type="pandas")
    assert results(t_env, "plus", add, "n") == [2, 3, None]

    @udf(result_type=DataTypes.STRING(), udf_type="pandas")
    def louder(s):
        return s.str.upper()

    assert results(t_env, "louder", louder, "s") == ["A", None, "C"]


def test_series_of_pandas_have_the_types_of_the_columns(t_env):
    pytest.importorskip("pandas")
    types = udf(
        lambda *given: given[1].map(lambda _: " ".join(str(item.dtype) for item in given)),
        result_type="STRING",
        func_type="pandas",
    )
    arguments = "s, CAST(n AS TINYINT), n, CAST(n AS BIGINT), CAST(n AS FLOAT), CAST(n AS DOUBLE), n > 1"
    found = results(t_env, "types", types, arguments)
    assert found == ["object float64 float64 float64 float32 float64 object"] * 3
    mean = udaf(lambda v: v.mean(), result_type=DataTypes.FLOAT(), func_type="pandas")
    t_env.create_temporary_function("mean", mean)
    query = "SELECT mean(v) FROM (VALUES (CAST(30.2 AS FLOAT)), (CAST(53.1 AS FLOAT)), (CAST(3.1 AS FLOAT))) AS T(v)"
    with t_env.execute_sql(query).collect() as rows:
        assert [row[0] for row in rows][-1] == 28.800001  # a sum of doubles would give 28.8


def test_asynchronous_functions_are_awaited(t_env):
    class Later(AsyncScalarFunction):
        def open(self, function_context):
            self.more = 10

        async def eval(self, n):
            await asyncio.sleep(0)
            return None if n is None else n + self.more

    assert results(t_env, "later", udf(Later(), result_type=DataTypes.INT()), "n") == [11, 12, None]

    @udf(result_type=DataTypes.INT())
    async def soon(n):
        return n

    assert results(t_env, "soon", soon, "n") == [1, 2, None]


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_functions_are_opened_and_closed_in_either_mode(t_env, tmp_path, kind):
    seen = tmp_path / "seen"

    class Noted(ScalarFunction):
        def open(self, function_context):
            self.prefix = function_context.get_job_parameter("prefix", "none")

        def eval(self, s):
            return f"{self.prefix}-{s}"

        def close(self):
            seen.write_text("closed", "utf-8")

    t_env.get_config().set("python.execution-mode", kind)
    assert results(t_env, "noted", udf(Noted(), result_type="STRING"), "s") == ["none-a", "none-None", "none-c"]
    assert seen.read_text("utf-8") == "closed"


class Widest(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, value):
        accumulator[0] = max(accumulator[0], value)

    def retract(self, accumulator, value):
        raise AssertionError

    def get_value(self, accumulator):
        return accumulator[0]

    def get_result_type(self):
        return DataTypes.BIGINT()

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())


def test_an_aggregate_function_gets_a_name_without_a_decorator(t_env):
    t_env.create_temporary_function("widest", Widest())
    found = t_env.sql_query("SELECT widest(n) FROM (VALUES (1), (3), (2)) AS T(n)")
    with found.execute().collect() as rows:
        assert [*rows][-1][0] == 3


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda s: s[1:], "The result length '2' of Pandas UDF '<lambda>' is not equal to the input length '3'"),
        (lambda s: s.repeat(2), "The result length '6' of Pandas UDF '<lambda>' is not equal to the input length '3'"),
        (lambda s: s.iloc[0], "The result type of Pandas UDF '<lambda>' must be pandas.Series or pandas.DataFrame"),
        (lambda s: [1] * len(s), "must be pandas.Series or pandas.DataFrame, got <class 'list'>"),
        (lambda s: s.to_numpy(), "must be pandas.Series or pandas.DataFrame, got <class 'numpy.ndarray'>"),
    ],
)
def test_a_function_of_pandas_returns_a_series_of_the_same_length(t_env, function, message):
    pytest.importorskip("pandas")
    wrong = udf(function, result_type=DataTypes.BIGINT(), func_type="pandas")
    with pytest.raises((TypeError, ValueError), match=message):
        results(t_env, "wrong", wrong, "n")
