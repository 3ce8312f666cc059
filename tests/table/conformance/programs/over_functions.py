# mypy: disable-error-code="import-not-found,import-untyped"
"""Aggregates of Python, plain ones and those on pandas data, in OVER windows."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.table import DataTypes, Schema
from pyflink.table.expressions import CURRENT_RANGE, CURRENT_ROW, UNBOUNDED_RANGE, UNBOUNDED_ROW, col, lit, row_interval
from pyflink.table.udf import AggregateFunction, udaf
from pyflink.table.window import Over
from tests.table.conformance.registry import BOTH, program

PROCESS = {"python.execution-mode": "process"}


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def moments(env, t_env):
    """Rows with a rowtime: (k, ms, n, ts)."""
    values = [
        ("a", 1000, 1),
        ("b", 2000, 2),
        ("a", 3000, 3),
        ("a", 3000, 4),
        ("b", 7000, 5),
        ("a", 9000, None),
        ("a", 9500, 7),
        ("b", 12000, 8),
    ]
    stream = env.from_collection(values, Types.ROW([Types.STRING(), Types.LONG(), Types.INT()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    schema = (
        Schema.new_builder()
        .column("f0", "STRING")
        .column("f1", "BIGINT")
        .column("f2", "INT")
        .column_by_expression("ts", "TO_TIMESTAMP(FROM_UNIXTIME(f1 / 1000))")
        .watermark("ts", "ts")
        .build()
    )
    return t_env.from_data_stream(stream.assign_timestamps_and_watermarks(strategy), schema)


class Total(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, value):
        accumulator[0] += value or 0

    def retract(self, accumulator, value):
        accumulator[0] -= value or 0

    def get_value(self, accumulator):
        return accumulator[0]

    def get_result_type(self):
        return DataTypes.BIGINT()

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())


class OfSeries(AggregateFunction):
    def open(self, function_context):
        self.more = 100

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, values):
        accumulator.append(values.sum() + self.more)

    def get_value(self, accumulator):
        return float(accumulator[0])

    def get_result_type(self):
        return DataTypes.DOUBLE()


mean = udaf(lambda v: v.mean(), result_type=DataTypes.DOUBLE(), func_type="pandas")
size = udaf(len, result_type=DataTypes.BIGINT(), func_type="pandas")
dtype = udaf(lambda v: str(v.dtype), result_type=DataTypes.STRING(), func_type="pandas")
both = udaf(lambda v, w: v.sum() + w.max(), result_type=DataTypes.DOUBLE(), func_type="pandas")


def outcome(table):
    """Return the rows of a table, or that there is an error."""
    try:
        with table().execute().collect() as rows:
            return sorted(map(str, (tuple(row) for row in rows)))
    except Exception:  # noqa: BLE001 - errors are results here
        return "an error"


FRAMES = [
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
]


@program(3, config=PROCESS, modes=BOTH)
def pandas_aggregates_over_rows(env, t_env):
    t_env.create_temporary_view("t", moments(env, t_env))
    for name, function in (("mean", mean), ("size", size), ("dtype", dtype), ("both_", both)):
        t_env.create_temporary_function(name, function)
    t_env.create_temporary_function("of_series", udaf(OfSeries(), func_type="pandas"))
    queries = [f"SELECT f0, f1, mean(f2) OVER (PARTITION BY f0 ORDER BY ts {frame}) FROM t" for frame in FRAMES]
    rows, times = FRAMES[:2]
    queries += [
        f"SELECT f1, size(f2) OVER (PARTITION BY f0 ORDER BY ts {rows}) FROM t",
        f"SELECT f1, size(f1) OVER (ORDER BY ts {times}) FROM t",
        f"SELECT f1, dtype(f2) OVER (PARTITION BY f0 ORDER BY ts {rows}) FROM t",
        f"SELECT f1, both_(f1, f2) OVER (PARTITION BY f0 ORDER BY ts {rows}) FROM t",
        f"SELECT f1, of_series(f2) OVER (PARTITION BY f0 ORDER BY ts {rows}) FROM t",
        f"SELECT f1, of_series(f2) OVER w, size(f2) OVER w FROM t WINDOW w AS (PARTITION BY f0 ORDER BY ts {times})",
        f"SELECT f1, mean(f2) OVER w, SUM(f2) OVER w FROM t WINDOW w AS (PARTITION BY f0 ORDER BY ts {rows})",
        f"SELECT f1, mean(f2 + 1) OVER (PARTITION BY f0 ORDER BY ts {rows}) FROM t WHERE f2 > 1",
    ]
    return [outcome(lambda query=query: t_env.sql_query(query)) for query in queries]


@program(3, config=PROCESS, modes=BOTH)
def pandas_aggregates_over_rows_of_the_table_api(env, t_env):
    t = moments(env, t_env)
    ordered = Over.partition_by(col("f0")).order_by(col("ts"))
    windows = [
        ordered.preceding(row_interval(1)).following(CURRENT_ROW).alias("w"),
        ordered.preceding(lit(2).seconds).following(CURRENT_RANGE).alias("w"),
        ordered.preceding(UNBOUNDED_ROW).alias("w"),
        ordered.preceding(UNBOUNDED_RANGE).following(CURRENT_RANGE).alias("w"),
    ]
    return [
        outcome(lambda w=window: t.over_window(w).select(col("f0"), col("f1"), mean(col("f2")).over(col("w"))))
        for window in windows
    ]


@program(3, config=PROCESS, modes=BOTH)
def plain_aggregates_over_rows(env, t_env):
    t_env.create_temporary_view("t", moments(env, t_env))
    t_env.create_temporary_function("total", udaf(Total()))
    return [
        outcome(
            lambda frame=frame: t_env.sql_query(
                f"SELECT f0, f1, total(f2) OVER (PARTITION BY f0 ORDER BY ts {frame}) FROM t"
            )
        )
        for frame in FRAMES
    ]
