"""Async functions of several rows are awaited together, and options say how: the results are those of one by one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Configuration
from flintstream.runtime.block_interrupter import BlockInterrupter
from flintstream.table import AsyncScalarFunction, DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.invocations import invocation
from flintstream.table._functions.awaiting import Calls, Loop
from flintstream.table._operators.generated import AwaitingOperator, Rows, awaiting_operator
from flintstream.table.udf import ScalarFunction, udf

PREFIX = "table.exec.async-scalar."
KEYS = [
    "table.exec.async-scalar.max-concurrent-operations",
    "table.exec.async-scalar.timeout",
    "table.exec.async-scalar.retry-strategy",
    "table.exec.async-scalar.retry-delay",
    "table.exec.async-scalar.max-attempts",
]


def environment(options=None, engine="inline"):
    given = {PREFIX + key: value for key, value in (options or {}).items()}
    entries = {"flintstream.engine": engine, "parallelism.default": "1", **given}
    configuration = Configuration.from_dict(entries)
    return TableEnvironment.create(
        EnvironmentSettings.new_instance().in_batch_mode().with_configuration(configuration).build()
    )


def query(t_env, function, statement="SELECT f(n) FROM t", count=10):
    t_env.create_temporary_function("f", udf(function, result_type=DataTypes.BIGINT()))
    t_env.create_temporary_view("t", t_env.from_elements([(n,) for n in range(count)], ["n"]))
    with t_env.execute_sql(statement).collect() as rows:
        return [row[0] for row in rows]


class Overlapping(AsyncScalarFunction):
    """Returns how many calls have been in flight at once until now."""

    def open(self, function_context):
        self.flying, self.most = 0, 0

    async def eval(self, n):
        self.flying += 1
        self.most = max(self.most, self.flying)
        await turns(3)
        self.flying -= 1
        return self.most


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_as_many_calls_overlap_as_the_option_says(engine):
    t_env = environment({"max-concurrent-operations": "4", "retry-strategy": "NO_RETRY"}, engine)
    assert max(query(t_env, Overlapping(), count=500)) == 4


def test_calls_within_a_filter_and_a_case_overlap():
    statement = "SELECT CASE WHEN n < 480 THEN f(n) ELSE -1 END FROM t WHERE n > 3"
    assert max(query(environment({"max-concurrent-operations": "4"}), Overlapping(), statement, count=500)) == 4


class Alone(AsyncScalarFunction):
    """Fails if another call is in flight."""

    def open(self, function_context):
        self.flying = 0

    async def eval(self, n):
        self.flying += 1
        assert self.flying == 1
        await asyncio.sleep(0)
        self.flying -= 1
        return n


class Counter(ScalarFunction):
    def open(self, function_context):
        self.count = 0

    def eval(self, n):
        self.count += 1
        return self.count

    def is_deterministic(self):
        return False


def test_calls_do_not_overlap_with_one_operation_or_next_to_a_function_that_depends_on_the_order():
    assert query(environment({"buffer-capacity": "1", "retry-strategy": "NO_RETRY"}), Alone()) == list(range(10))
    t_env = environment({"retry-strategy": "NO_RETRY"})
    t_env.create_temporary_function("g", udf(Counter(), result_type=DataTypes.BIGINT()))
    assert query(t_env, Alone(), "SELECT g(f(n)) FROM t") == list(range(1, 11))


class Failing(AsyncScalarFunction):
    """Counts its calls, and fails a number of times."""

    def __init__(self, failures):
        self.failures = failures

    def open(self, function_context):
        self.calls = 0

    async def eval(self, n):
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError(f"failure {self.calls}")
        return self.calls


@pytest.mark.parametrize(
    ("options", "calls"),
    [({}, 4), ({"max-attempts": "1"}, 2), ({"max-attempts": "5"}, 6), ({"retry-strategy": "no_retry"}, 1)],
)
@pytest.mark.parametrize(
    "statement", ["SELECT f(n) FROM t", "SELECT f(a.n) FROM t AS a JOIN t AS b ON f(a.n + b.n) > 0"]
)
def test_a_call_that_fails_is_made_again_as_often_as_options_say(options, calls, statement):
    options = {"retry-delay": "1 ms", **options}
    with pytest.raises(OSError, match=f"failure {calls}"):
        query(environment(options), Failing(calls), statement, count=1)
    if "JOIN" not in statement:
        assert query(environment(options), Failing(calls - 1), statement, count=1) == [calls]


def test_the_time_between_calls_is_that_of_the_option():
    async def never(n):
        raise OSError

    with pytest.raises(TimeoutError, match=r"timed out for input: \[0\]"):
        query(environment({"retry-delay": "1 h", "timeout": "20 ms"}), never, count=1)


@pytest.mark.parametrize("key", ["max-concurrent-operations", "max-attempts", "timeout", "retry-delay"])
def test_an_option_without_meaning_is_refused(key):
    async def same(n):
        return n

    with pytest.raises(ValueError, match=f"'{PREFIX}{key}' must be"):
        query(environment({key: "0"}), same)


def test_options_of_calls_have_the_defaults_of_flink():
    assert Calls.of({}) == Calls(10, 180, 4, 0.1)
    assert Calls.of(dict(zip(KEYS, ["2", "3 s", "NO_RETRY", "5 s", "6"], strict=True))) == Calls(2, 3, 1, 5)


# -- the operator ------------------------------------------------------------------------------------------------------


async def turns(count):
    for _ in range(count):
        await asyncio.sleep(0)


class Waiting:
    """Waits for as many turns of the loop as an argument says, and fails if another one says so."""

    def __init__(self):
        self.flying = 0

    async def __call__(self, n, waits, fails):
        self.flying += 1
        try:
            await turns(waits)
            if fails:
                raise ValueError(n)
            return n
        finally:
            self.flying -= 1


class Seen(list):
    def emit(self, values, timestamps):
        self.append((values, timestamps))


class Context:
    name, subtask = "Calc", 0


def run(rows, timestamps, capacity):
    output: Any = Seen()
    context: Any = Context()
    waiting = Waiting()

    async def call(n, waits, fails):
        return await waiting(n, waits, fails)

    function = udf(call, result_type=DataTypes.BIGINT())
    kinds = [DataTypes.BIGINT(), DataTypes.INT(), DataTypes.BOOLEAN()]
    called = invocation(function, [Ref(kind, i) for i, kind in enumerate(kinds)], "UTC", None)
    operator = awaiting_operator([called], None)
    assert isinstance(operator, AwaitingOperator)
    function.implementation.calls = Calls(capacity, 60, 1, 0.1)
    operator.output, operator.context, operator.interrupter = output, context, BlockInterrupter()
    try:
        operator.process(rows, timestamps)
        failure: Any = None
    except Exception as error:  # noqa: BLE001 - compared
        failure = str(error), getattr(error, "record", None)
    assert waiting.flying == 0
    operator.close()
    return list(output), failure


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans() | st.just(False)), min_size=1, max_size=30),
    st.integers(2, 40),
    st.booleans(),
)
def test_several_rows_at_a_time_give_the_results_and_failures_of_one_by_one(waits, capacity, stamped):
    rows = [(n, *one) for n, one in enumerate(waits)]
    stamps = [n * 10 for n in range(len(rows))] if stamped else None
    assert run(rows, stamps, capacity) == run(rows, stamps, 1)


def test_rows_wait_for_each_other_as_they_are_in_flight_together():
    flying, full = [], asyncio.Event()

    async def gate(records, append):
        flying.append(records)
        if len(flying) == 4:
            full.set()
        await asyncio.wait_for(full.wait(), 60)
        append(records[0])

    rows, loop = Rows(gate, iter([1, 2, 3, 4, 5]), None), Loop()
    loop.run(rows.await_all(4))
    loop.close()
    assert rows.made == [[1], [2], [3], [4], [5]]


def test_rows_after_one_that_fails_are_cancelled():
    ended = []

    async def one(records, append):
        (n,) = records
        try:
            await (turns(3) if n == 1 else asyncio.Event().wait())
        finally:
            ended.append(n)
        raise OSError(n)

    rows, loop = Rows(one, iter([1, 2, 3, 4, 5]), None), Loop()
    with pytest.raises(OSError, match="1"):
        loop.run(rows.await_all(3))
    assert (rows.failed, sorted(ended)) == (0, [1, 2, 3])


@pytest.mark.parametrize("fails", [False, True])
def test_the_end_of_a_loop_leaves_no_task(fails):
    tasks = []

    async def begin():
        tasks.append(asyncio.ensure_future(asyncio.Event().wait()))
        await turns(1)
        if fails:
            raise KeyboardInterrupt

    loop = Loop()
    if fails:
        with pytest.raises(KeyboardInterrupt):
            loop.run(begin())
    else:
        loop.run(begin())
        assert not tasks[0].done()
        loop.close()
    assert tasks[0].cancelled()
