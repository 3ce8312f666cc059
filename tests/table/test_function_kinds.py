"""Functions on pandas data and asynchronous ones give a result for each row, and are opened and closed."""

from __future__ import annotations

import asyncio
from collections import Counter

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


def test_an_asynchronous_function_that_fails_is_called_again(t_env):
    class Flaky(AsyncScalarFunction):
        def __init__(self, failures):
            self.failures = failures

        def open(self, function_context):
            self.calls: Counter[int | None] = Counter()

        async def eval(self, n):
            self.calls[n] += 1
            if self.calls[n] <= self.failures:
                raise OSError(f"failure {self.calls[n]}")
            return self.calls[n]

    assert results(t_env, "flaky", udf(Flaky(3), result_type=DataTypes.INT()), "n") == [4, 4, 4]
    with pytest.raises(OSError, match="failure 4"):
        results(t_env, "worse", udf(Flaky(4), result_type=DataTypes.INT()), "n")


def test_an_asynchronous_function_may_not_take_too_long(t_env):
    async def forever(n):
        await asyncio.Event().wait()

    t_env.get_config().set("table.exec.async-scalar.timeout", "10 ms")
    with pytest.raises(TimeoutError, match=r"Async function call has timed out for input: \[1\]"):
        results(t_env, "forever", udf(forever, result_type=DataTypes.INT()), "n")


def test_an_asynchronous_function_gets_no_series():
    async def add(n):
        return n

    with pytest.raises(ValueError, match="Async scalar functions do not support pandas func_type"):
        udf(add, result_type=DataTypes.INT(), func_type="pandas")


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


class Pairs(AggregateFunction):
    """Keeps the pairs that it is given."""

    def open(self, function_context):
        self.end = "!"

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, first, second):
        accumulator.append(f"{first}{second}")

    def retract(self, accumulator, first, second):
        accumulator.remove(f"{first}{second}")

    def merge(self, accumulator, accumulators):
        for other in accumulators:
            accumulator += other

    def get_value(self, accumulator):
        return " ".join(sorted(accumulator)) + self.end

    def get_result_type(self):
        return DataTypes.STRING()


PAIRS = "(VALUES (1, 'a'), (1, 'b'), (1, 'a'), (2, CAST(NULL AS STRING)), (1, 'b')) AS T(n, s)"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT pairs(DISTINCT n, s) FROM {PAIRS}", "1a 1b 2None!"),
        (f"SELECT pairs(DISTINCT n, s) FILTER (WHERE n = 1) FROM {PAIRS}", "1a 1b!"),
        (f"SELECT pairs(n, s) FROM {PAIRS}", "1a 1a 1b 1b 2None!"),
        (f"SELECT pairs(DISTINCT m, s) FROM (SELECT MAX(n) AS m, s FROM {PAIRS} GROUP BY s)", "1a 1b 2None!"),
    ],
)
def test_distinct_is_about_all_arguments_of_an_aggregate_function(t_env, query, expected):
    t_env.create_temporary_function("pairs", udaf(Pairs()))
    with t_env.execute_sql(query).collect() as rows:
        assert [row[0] for row in rows][-1] == expected


@pytest.fixture
def timed(t_env):
    t_env.execute_sql(
        "CREATE TABLE timed (k STRING, n INT, p AS PROCTIME()) WITH "
        "('connector' = 'datagen', 'number-of-rows' = '4', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', "
        "'fields.n.end' = '4', 'fields.k.length' = '1')"
    )
    return t_env


OVER = "SELECT {} OVER (ORDER BY p ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM timed"


def test_aggregate_functions_of_the_program_are_opened_and_retract_over_rows(timed):
    timed.create_temporary_function("pairs", udaf(Pairs()))
    with timed.execute_sql(OVER.format("pairs(n, 'x')")).collect() as rows:
        assert [row[0] for row in rows] == ["1x!", "1x 2x!", "2x 3x!", "3x 4x!"]


def test_an_aggregate_function_that_cannot_retract_takes_no_frame_that_leaves_rows_behind(timed):
    class NoRetract(Pairs):
        retract = AggregateFunction.retract

    timed.create_temporary_function("pairs", udaf(NoRetract()))
    with pytest.raises(Exception, match=r"NoRetract at .* has no method retract\(\), but its frame leaves rows behind"):
        timed.execute_sql(OVER.format("pairs(n, 'x')"))
    whole = "SELECT pairs(n, 'x') OVER (ORDER BY p ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM timed"
    with timed.execute_sql(whole).collect() as rows:
        assert [row[0] for row in rows][-1] == "1x 2x 3x 4x!"


def test_aggregates_of_pandas_by_class_count_the_rows_of_a_frame(timed):
    pytest.importorskip("pandas")

    class Spread(AggregateFunction):
        def open(self, function_context):
            self.more = 100

        def create_accumulator(self):
            return []

        def accumulate(self, accumulator, values):
            accumulator.append(int(values.max() - values.min()) + self.more * len(values))

        def get_value(self, accumulator):
            return accumulator[0]

        def get_result_type(self):
            return DataTypes.BIGINT()

    timed.create_temporary_function("spread", udaf(Spread(), func_type="pandas"))
    with timed.execute_sql(OVER.format("spread(n)")).collect() as rows:
        assert [row[0] for row in rows] == [100, 201, 201, 201]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("x", "1970-01-01T00:00:04.001000+08:00"),
        ("ARRAY[x]", "1970-01-01T00:00:04.001000+08:00"),
        ("ROW(x)", "1970-01-01T00:00:04.001000+08:00"),
        ("MAP['k', x]", "1970-01-01T00:00:04.001000+08:00"),
        ("CAST(x AS TIMESTAMP(3))", "1970-01-01T08:00:04.001000"),
    ],
)
def test_points_in_time_have_the_zone_of_the_session_in_functions(t_env, argument, expected):
    def text(value):
        inner = value["k"] if isinstance(value, dict) else value
        return (inner if hasattr(inner, "tzinfo") else inner[0]).isoformat()

    t_env.get_config().set("table.local-time-zone", "Asia/Shanghai")
    t_env.create_temporary_function("text", udf(text, result_type="STRING"))
    t_env.create_temporary_function("same", udf(lambda value: value, result_type=DataTypes.TIMESTAMP_LTZ(3)))
    found = t_env.sql_query(
        f"SELECT text({argument}), CAST(same(x) AS STRING) FROM (SELECT TO_TIMESTAMP_LTZ(4001, 3) AS x)"
    )
    with found.execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(expected, "1970-01-01 08:00:04.001")]
