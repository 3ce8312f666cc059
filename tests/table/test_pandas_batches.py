"""Pandas functions get the rows of a batch, and nothing overtakes rows that wait for one."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("pandas")

from flintstream.common import Types, WatermarkStrategy
from flintstream.common._types.data_types import DataTypes as T
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.table import Schema
from flintstream.table._expressions.expr import Column, Ref
from flintstream.table._functions.kinds import PandasRows
from flintstream.table._plan.batches import BatchCall, BatchOperator
from flintstream.table.expressions import col
from flintstream.table.udf import udf

SIZE, BUNDLE = "python.fn-execution.arrow.batch.size", "python.fn-execution.bundle.size"


class Sizes:
    """Gives each row the size of its batch."""

    def open(self, function_context):
        self.opened = True

    def close(self):
        self.opened = False

    def eval(self, s):
        assert self.opened
        return s * 0 + len(s)


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Seen(list):
    """Keeps what an operator emits, in order."""

    def emit(self, values, timestamps):
        self.append((values, timestamps))

    def emit_watermark(self, timestamp):
        self.append(timestamp)

    def emit_idle(self, idle):
        self.append(idle)


def operator_of(batch, bundle, milliseconds=1000):
    columns = (Column("id", T.BIGINT()),)
    call = BatchCall(PandasRows(Sizes(), T.BIGINT(), [T.BIGINT()]), (Ref(T.BIGINT(), 0),), T.BIGINT())
    operator = BatchOperator([call], columns, 1, batch, bundle, milliseconds)
    operator.output = seen = Seen()
    operator._calls[0].function.inner.opened = True
    return operator, seen


def rows(*ids):
    return [(i,) for i in ids]


def sizes(seen):
    return [row[-1] for block in seen if isinstance(block, tuple) for row in block[0]]


@pytest.mark.parametrize(
    ("batch", "bundle", "blocks", "expected"),
    [
        (1000, 1000, [100], [100] * 100),
        (10, 1000, [25], [10] * 20 + [5] * 5),
        (10, 24, [60], ([10] * 20 + [4] * 4) * 2 + [10] * 10 + [2] * 2),
        (1000, 7, [20], [7] * 14 + [6] * 6),
        (10, 1000, [1, 2, 3, 4, 1], [10] * 10 + [1]),
        (1, 1, [3], [1, 1, 1]),
        (5, 2, [5], [2, 2, 2, 2, 1]),
    ],
)
def test_batches_have_the_sizes_of_pyflink_however_rows_come(batch, bundle, blocks, expected):
    operator, seen = operator_of(batch, bundle)
    numbers = itertools.count()
    for block in blocks:
        operator.process(rows(*itertools.islice(numbers, block)), None)
    operator.process_watermark(5)
    assert sizes(seen) == expected
    assert [row[0] for block in seen[:-1] for row in block[0]] == list(range(sum(blocks)))


def test_a_watermark_comes_behind_the_rows_before_it():
    operator, seen = operator_of(10, 100)
    operator.process(rows(1, 2), [10, 20])
    assert seen == []
    operator.process_watermark(15)
    operator.process(rows(3), [30])
    operator.process_idle(True)
    assert seen == [([(1, 2), (2, 2)], [10, 20]), 15, ([(3, 1)], [30]), True]


def test_rows_wait_as_long_as_a_bundle_and_ask_to_be_called_then():
    operator, seen = operator_of(10, 100, milliseconds=1000)
    assert operator.next_processing_time() is None
    operator.process(rows(1, 2), None)
    due = operator.next_processing_time()
    operator.on_processing_time(due - 1)
    assert seen == []
    operator.on_processing_time(due)
    assert seen == [([(1, 2), (2, 2)], None)]
    assert operator.next_processing_time() is None


def test_rows_with_a_time_are_not_in_a_batch_with_others():
    operator, seen = operator_of(10, 100)
    operator.process(rows(1), None)
    operator.process(rows(2, 3), [7, 8])
    operator.process_watermark(9)
    assert seen == [([(1, 1)], None), ([(2, 2), (3, 2)], [7, 8]), 9]


size = udf(lambda s: s * 0 + len(s), result_type="BIGINT", func_type="pandas")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {30}),
        ({SIZE: "10"}, {10}),
        ({SIZE: "20"}, {20, 10}),
        ({BUNDLE: "15"}, {15}),
        ({SIZE: "10", BUNDLE: "15", "python.fn-execution.bundle.time": "60000"}, {10, 5}),
    ],
)
def test_options_of_a_table_environment_set_the_size_of_batches(t_env, options, expected):
    for key, value in options.items():
        t_env.get_config().set(key, value)
    table = t_env.from_elements([(i,) for i in range(30)], ["id"])
    with table.select(size(col("id"))).execute().collect() as found:
        assert {row[0] for row in found} == expected


def test_rows_are_in_time_for_windows_behind_a_function_of_pandas(env, t_env):
    stream = env.from_collection([(i, i * 1000) for i in range(10)], Types.TUPLE([Types.LONG(), Types.LONG()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    schema = (
        Schema.new_builder()
        .column_by_metadata("ts", "TIMESTAMP_LTZ(3)", "rowtime")
        .watermark("ts", "SOURCE_WATERMARK()")
        .build()
    )
    t_env.create_temporary_view("t", stream.assign_timestamps_and_watermarks(strategy), schema)
    t_env.create_temporary_function("double", udf(lambda s: s * 2, result_type="BIGINT", func_type="pandas"))
    query = """
        SELECT window_start, SUM(x) FROM TABLE(TUMBLE(
            TABLE v, DESCRIPTOR(ts), INTERVAL '5' SECONDS
        )) GROUP BY window_start, window_end
    """
    t_env.create_temporary_view("v", t_env.sql_query("SELECT double(f0) AS x, ts FROM t"))
    with t_env.execute_sql(query).collect() as found:
        assert [row[1] for row in found] == [20, 70]


def test_changes_keep_their_kind_through_a_function_of_pandas(t_env):
    table = t_env.from_elements([("a", 1), ("a", 2), ("b", 3)], ["k", "n"])
    t_env.create_temporary_view("t", table)
    t_env.create_temporary_function("double", udf(lambda s: s * 2, result_type="BIGINT", func_type="pandas"))
    with t_env.execute_sql("SELECT k, double(s) FROM (SELECT k, SUM(n) AS s FROM t GROUP BY k)").collect() as found:
        changes = [(str(row.get_row_kind()), *row) for row in found]
    assert changes == [
        ("+I", "a", 2),
        ("-U", "a", 2),
        ("+U", "a", 6),
        ("+I", "b", 6),
    ]
