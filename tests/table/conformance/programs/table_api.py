# mypy: disable-error-code="import-not-found,import-untyped"
"""Methods of tables: sets, orders, windows OVER rows, and functions with several rows for each group."""

from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.table import DataTypes, Schema
from pyflink.table.expressions import CURRENT_ROW, UNBOUNDED_RANGE, UNBOUNDED_ROW, col, lit
from pyflink.table.udf import AggregateFunction, TableAggregateFunction, udaf, udf, udtaf, udtf
from pyflink.table.window import Over, Tumble
from tests.table.conformance.registry import BOTH, program

PROCESS = {"python.execution-mode": "process"}


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def scores(t_env):
    rows = [("a", 3, 1.5), ("b", 1, None), ("a", 5, 2.5), ("b", 4, 0.5), ("c", 2, 3.5)]
    fields = [("k", DataTypes.STRING()), ("n", DataTypes.INT()), ("x", DataTypes.DOUBLE())]
    return t_env.from_elements(rows, DataTypes.ROW([DataTypes.FIELD(*field) for field in fields]))


def moments(env, t_env):
    """Rows with a rowtime: (k, ms, ts)."""
    values = [("a", 1000), ("b", 2000), ("a", 3000), ("a", 3000), ("b", 7000), ("a", 9000)]
    stream = env.from_collection(values, Types.TUPLE([Types.STRING(), Types.LONG()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    schema = (
        Schema.new_builder()
        .column("f0", "STRING")
        .column("f1", "BIGINT")
        .column_by_expression("ts", "TO_TIMESTAMP(FROM_UNIXTIME(f1 / 1000))")
        .watermark("ts", "ts")
        .build()
    )
    return t_env.from_data_stream(stream.assign_timestamps_and_watermarks(strategy), schema)


@program(3, order="folded", modes=("BATCH",))
def sets_of_the_table_api(env, t_env):
    left = t_env.from_elements([(1, "a"), (1, "a"), (2, "b"), (3, "c")], ["i", "s"])
    right = t_env.from_elements([(1, "a"), (3, "c"), (3, "c"), (4, "d")], ["i", "s"])
    return [
        left.union(right),
        left.union_all(right),
        left.intersect(right),
        left.intersect_all(right),
        left.minus(right),
        left.minus_all(right),
        left.distinct(),
    ]


@program(3, modes=("BATCH",))
def orders_of_the_table_api(env, t_env):
    t = scores(t_env)
    return [
        t.order_by(col("n")),
        t.order_by(col("k").desc, col("n").asc),
        t.order_by(col("n").desc).offset(1).fetch(2),
        t.order_by(col("n")).fetch(2),
        t.order_by(col("n") % 3, col("k")),
        t.order_by(col("n")).limit(2, 1),
        t.order_by(col("n").desc).limit(1),
        t.order_by(col("x")),
        t.order_by(col("x").desc),
    ]


@program(3, order="folded")
def limited_orders_of_a_stream(env, t_env):
    t = scores(t_env)
    return [
        t.order_by(col("n").desc).fetch(2),
        t.order_by(col("n")).offset(1).fetch(2),
        t.order_by(col("n") % 3, col("n")).limit(3),
    ]


@program(3)
def an_order_of_a_stream_without_a_limit(env, t_env):
    return scores(t_env).order_by(col("n"))


@program(3)
def a_fetch_after_a_fetch(env, t_env):
    return scores(t_env).order_by(col("n")).fetch(2).fetch(1)


@program(3)
def a_negative_fetch(env, t_env):
    return scores(t_env).order_by(col("n")).fetch(-1)


@program(2)
def an_order_by_rowtime(env, t_env):
    return moments(env, t_env).order_by(col("ts")).select(col("f0"), col("f1"))


by_key = Over.partition_by(col("f0")).order_by(col("ts"))
for label, window in {
    "of_all_times_before": by_key.preceding(UNBOUNDED_RANGE),
    "of_all_rows_before": by_key.preceding(UNBOUNDED_ROW).following(CURRENT_ROW),
    "of_seconds": by_key.preceding(lit(4).seconds),
    "of_rows": by_key.preceding(lit(1).rows),
    "of_all_keys": Over.order_by(col("ts")).preceding(UNBOUNDED_RANGE),
    "without_a_begin": by_key,
}.items():

    def over(env, t_env, window=window):
        w = col("w")
        t = moments(env, t_env).over_window(window.alias("w"))
        return [
            t.select(col("f0"), col("f1").sum.over(w).alias("s"), col("f1").count.over(w).alias("c")),
            t.select(col("*"), col("f1").max.over(w), col("f1").avg.over(w) + 1),
            t.select(col("f1").count.distinct.over(w).alias("c")),
        ]

    over.__name__ = f"an_over_window_{label}"
    program(2, modes=BOTH, order="multiset")(over)


@program(2)
def an_over_window_of_an_order_without_time(env, t_env):
    w = Over.partition_by(col("k")).order_by(col("n")).alias("w")
    return scores(t_env).over_window(w).select(col("n").sum.over(col("w")))


@program(2)
def an_over_window_by_another_name(env, t_env):
    w = Over.partition_by(col("f0")).order_by(col("ts")).alias("w")
    return moments(env, t_env).over_window(w).select(col("f1").sum.over(col("v")))


class Top2(TableAggregateFunction):
    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, value):
        if value is not None:
            accumulator[:] = sorted([item for item in (*accumulator, value) if item is not None], reverse=True)[:2]
            accumulator.extend([None] * (2 - len(accumulator)))

    def emit_value(self, accumulator):
        for rank, value in enumerate(accumulator):
            if value is not None:
                yield Row(value, rank)

    def merge(self, accumulator, accumulators):
        for other in accumulators:
            for value in other:
                self.accumulate(accumulator, value)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("value", DataTypes.BIGINT()), DataTypes.FIELD("place", DataTypes.BIGINT())]
        )


class Top2Rows(Top2):
    def accumulate(self, accumulator, value):
        super().accumulate(accumulator, value.n)


@program(3, order="folded", config=PROCESS)
def table_aggregates_of_groups(env, t_env):
    t, top = scores(t_env), udtaf(Top2())
    return [
        t.group_by(col("k")).flat_aggregate(top(col("n")).alias("v", "p")).select(col("k"), col("v"), col("p")),
        t.group_by(col("k")).flat_aggregate(top(col("n"))).select(col("*")),
        t.flat_aggregate(top(col("n")).alias("v", "p")).select(col("v") + 1, col("p")),
        t.flat_aggregate(udtaf(Top2Rows()).alias("v", "p")).select(col("v"), col("p")),
    ]


@program(3, order="folded", config=PROCESS)
def changes_of_a_table_aggregate(env, t_env):
    t = t_env.from_elements([("a", 1), ("a", 2), ("b", 7), ("a", 3), ("a", 0)], ["k", "n"])
    top = udtaf(Top2())
    return t.group_by(col("k")).flat_aggregate(top(col("n")).alias("v", "p")).select(col("k"), col("v"), col("p"))


@program(3, modes=("BATCH",), config=PROCESS)
def a_table_aggregate_of_a_batch(env, t_env):
    return scores(t_env).group_by(col("k")).flat_aggregate(udtaf(Top2())(col("n"))).select(col("*"))


class Ends(AggregateFunction):
    """The least and the greatest value."""

    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, value):
        if value is not None:
            accumulator[0] = value if accumulator[0] is None else min(accumulator[0], value)
            accumulator[1] = value if accumulator[1] is None else max(accumulator[1], value)

    def get_value(self, accumulator):
        return Row(*accumulator)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("low", DataTypes.BIGINT()), DataTypes.FIELD("high", DataTypes.BIGINT())])


class EndsOfRows(Ends):
    def accumulate(self, accumulator, value):
        super().accumulate(accumulator, value.n)


@program(3, order="folded", modes=BOTH, config=PROCESS)
def aggregates_with_several_columns(env, t_env):
    t, ends = scores(t_env), udaf(Ends())
    return [
        t.group_by(col("k")).aggregate(ends(col("n")).alias("l", "h")).select(col("k"), col("l"), col("h")),
        t.group_by(col("k")).aggregate(ends(col("n"))).select(col("*")),
        t.aggregate(ends(col("n")).alias("l", "h")).select(col("h") - col("l")),
        t.group_by(col("k")).aggregate(udaf(EndsOfRows()).alias("l", "h")).select(col("k"), col("h")),
        t.group_by(col("k")).select(col("k"), ends(col("n")).alias("e")),
        t.group_by(col("k")).aggregate(col("n").sum).select(col("*")),
    ]


def frame_ends(frame):
    return frame.n.min(), frame.x.max()


@program(3, modes=("BATCH",), order="multiset", config=PROCESS)
def aggregates_of_data_frames(env, t_env):
    t = scores(t_env).filter(col("x").is_not_null)
    kind = "ROW<low INT, high DOUBLE>"
    ends = udaf(frame_ends, result_type=kind, func_type="pandas")
    pairs = udaf(lambda n, x: (n.min(), x.max()), result_type=kind, func_type="pandas")
    return [
        t.group_by(col("k")).aggregate(ends.alias("l", "h")).select(col("k"), col("l"), col("h")),
        t.aggregate(pairs(col("n"), col("x")).alias("l", "h")).select(col("l"), col("h")),
        t.group_by(col("k")).aggregate(pairs(col("n"), col("x")).alias("l", "h")).select(col("*")),
    ]


@program(config=PROCESS, modes=BOTH)
def functions_of_whole_rows(env, t_env):
    two = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.STRING()), DataTypes.FIELD("b", DataTypes.BIGINT())])

    @udf(result_type=two)
    def by_row(r):
        return Row(r.k + "!", r[1] * 2)

    @udf(result_type=two, func_type="pandas")
    def by_frame(frame):
        frame = frame[["k", "n"]].rename(columns={"k": "a", "n": "b"})
        frame["b"] = frame["b"] * 10
        return frame

    @udf(result_type=two, func_type="pandas")
    def by_series(k, n):
        import pandas as pd

        return pd.concat([k + "?", n + 1], axis=1)

    @udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
    def repeated(r):
        for i in range(r.n % 3):
            yield r.k, i

    @udf(result_type=DataTypes.BIGINT(), func_type="pandas")
    def single(n):
        return n * 3

    t = scores(t_env)
    return [
        t.map(by_row),
        t.map(by_row).alias("p", "q"),
        t.map(by_frame),
        t.map(by_series(col("k"), col("n"))).alias("p", "q"),
        t.map(single(col("n"))),
        t.flat_map(repeated),
        t.flat_map(repeated).alias("w", "i"),
    ]


@program(2, config=PROCESS, order="multiset", modes=BOTH)
def windows_with_an_aggregate_of_several_columns(env, t_env):
    window = Tumble.over(lit(5).seconds).on(col("ts")).alias("w")
    ends = udaf(Ends())
    return (
        moments(env, t_env)
        .window(window)
        .group_by(col("w"), col("f0"))
        .aggregate(ends(col("f1")).alias("l", "h"))
        .select(col("f0"), col("l"), col("h"), col("w").start.alias("s"))
    )


@program(modes=BOTH)
def tables_of_pandas(env, t_env):
    found = scores(t_env).to_pandas()
    kinds = tuple(str(kind) for kind in found.dtypes)
    empty = scores(t_env).filter(col("n") > 100).to_pandas()
    return [kinds, tuple(found["k"]), tuple(found["n"].tolist()), len(empty), tuple(empty.columns)]


@program(3)
def changes_as_data_frames(env, t_env):
    found = scores(t_env).group_by(col("k")).select(col("k"), col("n").sum.alias("s")).to_pandas()
    return [tuple(sorted(zip(found["k"], found["s"].tolist(), strict=True)))]


@program(config=PROCESS, modes=BOTH)
def dtypes_of_functions_on_pandas(env, t_env):
    kinds = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "STRING", "DECIMAL(5, 2)", "DATE")

    @udf(result_type=DataTypes.STRING(), func_type="pandas")
    def dtype(x):
        return x.map(lambda _: str(x.dtype))

    @udf(result_type=DataTypes.STRING(), func_type="pandas")
    def missing(x):
        import pandas as pd

        return pd.Series([str(x.dtype)] * len(x))

    @udf(result_type=DataTypes.FLOAT(), func_type="pandas")
    def square(x):
        return x * x

    t_env.create_temporary_function("dtype", dtype)
    t_env.create_temporary_function("missing", missing)
    t_env.create_temporary_function("square", square)
    texts = {"BOOLEAN": "TRUE", "STRING": "'a'", "DATE": "'2020-01-02'"}
    there = ", ".join(f"dtype(CAST({texts.get(kind, '1')} AS {kind}))" for kind in kinds)
    nothing = ", ".join(f"missing(CAST(NULL AS {kind}))" for kind in kinds)
    return [
        t_env.sql_query(f"SELECT {there} FROM (VALUES (1)) AS v (id)"),
        t_env.sql_query(f"SELECT {nothing} FROM (VALUES (1)) AS v (id)"),
        t_env.sql_query(
            "SELECT square(CAST(1.1 AS FLOAT)), square(CAST(16777217 AS FLOAT)) FROM (VALUES (1)) AS v (id)"
        ),
    ]


@program(3, modes=("BATCH",))
def names_of_unnamed_aggregates(env, t_env):
    t = t_env.from_elements([("a", 1, 2), ("b", 3, 4)], ["k", "v", "w"])
    return [
        t.group_by(col("k")).select(col("k"), col("v").sum, col("w").max),
        t.group_by(col("k")).select(col("v").sum, col("k"), col("v").sum + 1, col("w").count),
        t.group_by(col("k")).select(col("k").upper_case, col("v").sum.alias("s"), col("v").max, col("v").sum * 2),
        t.group_by(col("k")).select((col("v").sum + col("w").sum) * 2, col("w").sum, lit(1)),
        t.select(col("v").sum, col("w").sum.alias("x"), col("v").min + col("w").sum),
        t.select(col("v") + 1, col("k"), col("w") * 2),
    ]


@program(2, modes=("BATCH",))
def names_of_times_of_windows(env, t_env):
    t_env.execute_sql("CREATE TEMPORARY VIEW rows_ AS SELECT * FROM (VALUES ('a', 1, TIMESTAMP '2020-01-01 00:00:01'), ('b', 2, TIMESTAMP '2020-01-01 00:00:02')) AS t (k, v, ts)")  # fmt: skip
    t = t_env.from_path("rows_")
    grouped = t.window(Tumble.over(lit(5).minutes).on(col("ts")).alias("w")).group_by(col("k"), col("w"))
    return [
        grouped.select(col("k"), col("w").start, col("w").end, col("v").sum.alias("d")),
        grouped.select(col("v").sum, col("w").start, col("k")),
        grouped.select(col("w").end, col("v").sum + 1, col("w").start, col("v").max.alias("m"), col("v").min),
        grouped.select(col("w").end.alias("e"), col("w").start, col("v").max.alias("m"), col("v").min),
        grouped.select(col("w").start.cast(DataTypes.STRING()), col("v").sum),
    ]


@program(1)
def names_of_unnamed_expressions(env, t_env):
    t = t_env.sql_query("SELECT k, v, ROW(2, k) AS r FROM (VALUES ('a', 1)) AS t (k, v)")
    decimal = DataTypes.DECIMAL(10, 2)
    return [
        t.select(col("v").cast(DataTypes.STRING()), col("k").cast(DataTypes.STRING())),
        t.select(col("v").sum.cast(decimal)),
        t.select((col("v") + 1).cast(DataTypes.STRING()), col("v").try_cast(DataTypes.STRING()), col("r").get(0)),
        t.select(
            col("v").cast(DataTypes.STRING()).cast(DataTypes.INT()), col("r").get("EXPR$1").cast(DataTypes.BYTES())
        ),
        t.select(col("v").cast(DataTypes.STRING()).alias("x"), lit(1).cast(DataTypes.STRING())),
    ]


@program(3, modes=BOTH, order="folded")
def groups_by_expressions_with_names(env, t_env):
    t = t_env.from_elements([(1, "a", 3), (2, "A", 4), (3, "b", 5)], ["id", "k", "v"])
    z, n = col("k").upper_case.alias("z"), col("v").sum.alias("n")
    return [
        t.group_by(z).select(col("z"), n),
        t.group_by(z).select(n),
        t.group_by(z, col("id")).select(col("id"), col("z"), n),
        t.group_by(col("k").alias("q")).select(col("q"), n),
    ]
