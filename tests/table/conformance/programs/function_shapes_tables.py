# mypy: disable-error-code="import-not-found,import-untyped"
"""Table functions, aggregates and table aggregates: how they are declared, and where they stand."""

import functools

from pyflink.common import Row
from pyflink.table import DataTypes, ListView, MapView
from pyflink.table.expressions import call, col, lit
from pyflink.table.udf import AggregateFunction, TableAggregateFunction, TableFunction, udaf, udtaf, udtf
from pyflink.table.window import Over, Slide, Tumble
from tests.table.conformance.registry import BOTH, program
from tests.table.conformance.shapes import PROCESS, queries

INT, BIGINT, STRING = DataTypes.INT(), DataTypes.BIGINT(), DataTypes.STRING()
PAIR = DataTypes.ROW([DataTypes.FIELD("lo", INT), DataTypes.FIELD("hi", INT)])


def tables(t_env):
    kinds = DataTypes.ROW([DataTypes.FIELD("id", INT), DataTypes.FIELD("k", STRING), DataTypes.FIELD("v", INT)])
    rows = [(1, "a", 3), (2, "a", 4), (3, "b", 5), (4, None, None), (5, "b", 1)]
    t_env.create_temporary_view("t", t_env.from_elements(rows, kinds))
    return t_env.from_path("t")


def timed(t_env, directory):
    path = f"'connector' = 'filesystem', 'path' = '{directory}/rows', 'format' = 'csv'"
    t_env.execute_sql(f"CREATE TABLE w (id INT, k STRING, v INT, ms BIGINT) WITH ({path})")
    values = "(1, 'a', 3, 1000), (2, 'a', 4, 3000), (3, 'b', 5, 4000), (4, 'a', 6, 7000), (5, 'b', 8, 12000)"
    t_env.execute_sql(f"INSERT INTO w VALUES {values}").wait()
    t_env.execute_sql(
        "CREATE TABLE s (id INT, k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), "
        f"WATERMARK FOR ts AS ts) WITH ({path})"
    )
    return t_env.from_path("s")


class Words(TableFunction):
    def __init__(self, more=0):
        self.more = more
        self.ready = 0

    def open(self, function_context):
        self.ready = self.more

    def eval(self, x, word="w"):
        for i in range((x or 0) + self.ready):
            yield word, i


class Ones(TableFunction):
    def eval(self, *given):
        for item in given:
            if item is not None:
                yield item


@udtf(result_types=[STRING, INT])
def words(x):
    for i in range(x or 0):
        yield "n", i


@udtf(result_types=["STRING", "INT"])
def words_by_text(x):
    yield "n", x


@udtf(result_types=DataTypes.ROW([DataTypes.FIELD("a", STRING), DataTypes.FIELD("b", INT)]))
def words_by_row(x):
    yield Row("n", x)


@udtf(result_types="ROW<a STRING, b INT>")
def words_by_row_text(x):
    yield "n", x


@udtf(input_types=[INT], result_types=INT)
def ones(x):
    yield x
    yield -1


@udtf(result_types=INT)
def of_a_list(x):
    return [x, 0]


@udtf(result_types=INT)
def of_a_range(x):
    return range(x or 0)


@udtf(result_types=INT)
def of_nothing(x):
    return None


def between(lo, x):
    return range(lo, x or 0)


def lateral(call_, kind="CROSS", columns="w, n"):
    return f"SELECT id, {columns} FROM t {kind} JOIN LATERAL TABLE({call_}) AS f ({columns})" + (
        " ON TRUE" if kind == "LEFT" else ""
    )


@program(3, config=PROCESS, modes=BOTH)
def shapes_of_table_functions(env, t_env):
    t = tables(t_env)
    functions = {
        "words": words, "ones": ones, "of_a_list": of_a_list, "of_a_range": of_a_range, "of_nothing": of_nothing,
        "instance": udtf(Words(1), result_types=[STRING, INT]), "many": udtf(Ones(), result_types=INT),
    }  # fmt: skip
    for name, function in functions.items():
        t_env.create_temporary_system_function(name, function)
    both = [STRING, INT]
    return queries(
        t_env,
        {
            "CROSS JOIN": lateral("words(v)"),
            "LEFT JOIN": lateral("words(v)", "LEFT"),
            "a comma": "SELECT id, w FROM t, LATERAL TABLE(words(id)) AS f (w, n) WHERE n > 1",
            "without names": "SELECT * FROM t, LATERAL TABLE(words(2))",
            "one column": lateral("ones(v)", columns="n"),
            "a list": lateral("of_a_list(v)", columns="n"),
            "a range": lateral("of_a_range(v)", columns="n"),
            "a range or NULL": lateral("of_a_range(v)", "LEFT", "n"),
            "None": lateral("of_nothing(v)", "LEFT", "n"),
            "an instance": lateral("instance(id)"),
            "any number of values": lateral("many(id, v, 7)", columns="n"),
            "of a constant": lateral("words(2)"),
            "of an expression": lateral("words(id + 1 - CHAR_LENGTH(k))"),
            "two": "SELECT id, w, m FROM t, LATERAL TABLE(words(v)) AS f (w, n), LATERAL TABLE(ones(n)) AS g (m)",
            "below a group": "SELECT w, SUM(n) FROM t, LATERAL TABLE(words(v)) AS f (w, n) GROUP BY w",
            "alone": "SELECT * FROM LATERAL TABLE(words(3)) AS f (w, n)",
            "with ON": "SELECT id, n FROM t LEFT JOIN LATERAL TABLE(words(v)) AS f (w, n) ON n = id",
            "join_lateral": lambda: t.join_lateral(words(col("v")).alias("w", "n")),
            "join_lateral by text": lambda: t.join_lateral(words_by_text(col("v")).alias("w", "n")),
            "join_lateral of a row": lambda: t.join_lateral(words_by_row(col("v")).alias("w", "n")),
            "join_lateral of a row as text": lambda: t.join_lateral(words_by_row_text(col("v")).alias("w", "n")),
            "left_outer_join_lateral": lambda: t.left_outer_join_lateral(words(col("v")).alias("w", "n")),
            "join_lateral by name": lambda: t.join_lateral(call("words", col("v")).alias("w", "n")).select(col("n")),
            "join_lateral without names": lambda: t.join_lateral(words(col("v"))),
            "join_lateral with a condition": lambda: t.join_lateral(
                words(col("v")).alias("w", "n"), col("n") == col("id")
            ),
            "flat_map": lambda: t.flat_map(words(col("v"))).alias("w", "n"),
            "flat_map of an instance": lambda: t.flat_map(udtf(Words(), result_types=both)(col("id"), lit("z"))),
            "a lambda": lambda: t.join_lateral(
                udtf(lambda x: [(x, 1)], result_types=[INT, INT])(col("id")).alias("a", "b")
            ),
            "a partial function": lambda: t.join_lateral(
                udtf(functools.partial(between, 1), result_types=INT)(col("v")).alias("a")
            ),
            "a class instead of an instance": lambda: t.join_lateral(udtf(Words, result_types=both)(col("v"))),
            "no result type": lambda: t.join_lateral(udtf(lambda x: [x])(col("v"))),
            "too few columns": lambda: t.join_lateral(
                udtf(lambda x: [(x,)], result_types=both)(col("v")).alias("w", "n")
            ),
            "raising": lambda: t.join_lateral(udtf(lambda x: 1 // 0, result_types=INT)(col("v")).alias("n")),
        },
    )


@program(3, config=PROCESS, modes=BOTH)
def shapes_of_conditions_of_table_functions(env, t_env):
    t = tables(t_env)
    return queries(
        t_env,
        {
            "of the row": lambda: t.join_lateral(ones(col("v")).alias("n"), col("id") > 2),
            "of both": lambda: t.join_lateral(ones(col("v")).alias("n"), (col("n") > 0) & (col("id") < 3)),
            "true": lambda: t.join_lateral(ones(col("v")).alias("n"), lit(True)),
            "left, true": lambda: t.left_outer_join_lateral(of_nothing(col("v")).alias("n"), lit(True)),
            "left, of both": lambda: t.left_outer_join_lateral(ones(col("v")).alias("n"), col("n") == col("id")),
            "left, of the row": lambda: t.left_outer_join_lateral(ones(col("v")).alias("n"), col("id") > 2),
        },
    )


class Total(AggregateFunction):
    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, v, weight=1):
        if v is not None:
            accumulator[0] += v * weight
            accumulator[1] += 1

    def retract(self, accumulator, v, weight=1):
        if v is not None:
            accumulator[0] -= v * weight
            accumulator[1] -= 1

    def merge(self, accumulator, accumulators):
        for other in accumulators:
            accumulator[0] += other[0]
            accumulator[1] += other[1]

    def get_value(self, accumulator):
        return accumulator[0] if accumulator[1] else None


class Declared(Total):
    def get_result_type(self):
        return INT

    def get_accumulator_type(self):
        return DataTypes.ARRAY(INT)


class LowHigh(AggregateFunction):
    def create_accumulator(self):
        return Row(None, None)

    def accumulate(self, accumulator, v):
        if v is not None:
            accumulator[0] = v if accumulator[0] is None else min(v, accumulator[0])
            accumulator[1] = v if accumulator[1] is None else max(v, accumulator[1])

    def get_value(self, accumulator):
        return Row(accumulator[0], accumulator[1])

    def get_result_type(self):
        return PAIR

    def get_accumulator_type(self):
        return PAIR


class Listed(AggregateFunction):
    def create_accumulator(self):
        return Row(ListView(), MapView())

    def accumulate(self, accumulator, v):
        if v is not None:
            accumulator[0].add(v)
            accumulator[1][str(v)] = v

    def get_value(self, accumulator):
        return ",".join(map(str, accumulator[0])) + "/" + str(len(list(accumulator[1].items())))

    def get_result_type(self):
        return STRING

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [
                DataTypes.FIELD("l", DataTypes.LIST_VIEW(INT)),
                DataTypes.FIELD("m", DataTypes.MAP_VIEW(STRING, INT)),
            ]
        )


total = udaf(Total(), result_type=INT, accumulator_type=DataTypes.ARRAY(INT))
by_text = udaf(Total(), result_type="INT", accumulator_type="ARRAY<INT>")
mean = udaf(lambda s: s.mean(), result_type=DataTypes.DOUBLE(), func_type="pandas")


@udaf(result_type=INT, func_type="pandas")
def spread(s):
    return s.max() - s.min()


@program(3, config=PROCESS, modes=BOTH)
def shapes_of_aggregates(env, t_env):
    t = tables(t_env)
    functions = {"total": total, "mean": mean, "spread": spread, "listed": udaf(Listed()), "lohi": udaf(LowHigh())}
    for name, function in functions.items():
        t_env.create_temporary_system_function(name, function)
    k, v = col("k"), col("v")
    return queries(
        t_env,
        {
            "GROUP BY": "SELECT k, total(v) FROM t GROUP BY k",
            "all rows": "SELECT total(v) FROM t",
            "beside built-in ones": "SELECT k, total(v), SUM(v), COUNT(*) FROM t GROUP BY k",
            "with a default value": "SELECT k, total(v, 2) FROM t GROUP BY k",
            "DISTINCT": "SELECT total(DISTINCT v) FROM t",
            "FILTER": "SELECT total(v) FILTER (WHERE id > 2) FROM t",
            "HAVING": "SELECT k FROM t GROUP BY k HAVING total(v) > 6",
            "of changes": "SELECT total(n) FROM (SELECT CAST(COUNT(*) AS INT) AS n FROM t GROUP BY k)",
            "of an expression": "SELECT total(v + id) FROM t",
            "within an expression": "SELECT total(v) + 1 FROM t",
            "views of lists and maps": "SELECT listed(v) FROM t",
            "a row as the result": "SELECT lohi(v) FROM t",
            "a field of the result": "SELECT lohi(v).hi FROM t",
            "pandas in SQL": "SELECT mean(v) FROM t",
            "pandas by a key": "SELECT k, spread(v) FROM t GROUP BY k",
            "select": lambda: t.select(total(v)),
            "group_by": lambda: t.group_by(k).select(k, total(v)),
            "types as text": lambda: t.group_by(k).select(k, by_text(v)),
            "declared types": lambda: t.group_by(k).select(k, udaf(Declared())(v)),
            "no types": lambda: t.group_by(k).select(k, udaf(Total())(v)),
            "by name": lambda: t.group_by(k).select(k, call("total", v)),
            "distinct": lambda: t.group_by(k).select(k, total(v).distinct),
            "aggregate": lambda: t.group_by(k).aggregate(total(v).alias("s")).select(k, col("s")),
            "aggregate of a row": lambda: (
                t.group_by(k).aggregate(udaf(LowHigh())(v).alias("a", "b")).select(k, col("b"))
            ),
            "pandas in group_by": lambda: t.group_by(k).select(k, spread(v)),
            "pandas in aggregate": lambda: t.group_by(k).aggregate(spread(v).alias("s")).select(k, col("s")),
            "a class instead of an instance": lambda: t.select(udaf(Total, result_type=INT)(v)),
        },
    )


class Two(TableAggregateFunction):
    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, row):
        self.take(accumulator, row[2] if isinstance(row, Row) else row)

    def take(self, accumulator, v):
        if v is not None:
            kept = sorted([item for item in (*accumulator, v) if item is not None], reverse=True)
            accumulator[:] = [*kept, None, None][:2]

    def emit_value(self, accumulator):
        for item in accumulator:
            if item is not None:
                yield Row(item, -item)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(INT)

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("top", INT), DataTypes.FIELD("low", INT)])


@program(3, config=PROCESS, modes=BOTH)
def shapes_of_table_aggregates(env, t_env):
    t = tables(t_env)
    two = udtaf(Two())
    given = udtaf(Two(), result_type="ROW<a INT, b INT>", accumulator_type="ARRAY<INT>")
    k, v = col("k"), col("v")
    return queries(
        t_env,
        {
            "all rows": lambda: t.flat_aggregate(two(v)).select(col("top"), col("low")),
            "by a key": lambda: t.group_by(k).flat_aggregate(two(v)).select(k, col("top")),
            "with names": lambda: t.group_by(k).flat_aggregate(two(v).alias("x", "y")).select(k, col("y")),
            "with one name too few": lambda: t.group_by(k).flat_aggregate(two(v).alias("x")).select(k, col("x")),
            "of whole rows": lambda: t.group_by(k).flat_aggregate(two).select(k, col("top")),
            "types as text": lambda: t.group_by(k).flat_aggregate(given(v)).select(k, col("b")),
            "with star": lambda: t.group_by(k).flat_aggregate(two(v)).select(col("*")),
            "of changes": lambda: (
                t.group_by(k).select(v.sum.alias("s")).flat_aggregate(two(col("s"))).select(col("top"))
            ),
            "a class": lambda: t.flat_aggregate(udtaf(Two)(v)).select(col("top")),
        },
    )


@program(3, config=PROCESS, modes=BOTH, directory=True)
def shapes_of_windows(env, t_env, directory):
    s = timed(t_env, directory)
    for name, function in {"total": total, "mean": mean, "spread": spread}.items():
        t_env.create_temporary_system_function(name, function)
    tumble = Tumble.over(lit(5).seconds).on(col("ts")).alias("w")
    slide = Slide.over(lit(6).seconds).every(lit(3).seconds).on(col("ts")).alias("w")
    rows = Over.partition_by(col("k")).order_by(col("ts")).preceding(lit(4000).milli).alias("w")
    tvf = "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end"
    frame = "OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW)"
    ranks = "OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    return queries(
        t_env,
        {
            "TUMBLE": f"SELECT total(v) FROM {tvf}",
            "TUMBLE of pandas": f"SELECT mean(v) FROM {tvf}",
            "TUMBLE by a key": f"SELECT k, total(v) FROM {tvf}, k",
            "TUMBLE of GROUP BY": "SELECT spread(v) FROM s GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)",
            "HOP of GROUP BY": "SELECT k, total(v) FROM s GROUP BY k, HOP(ts, INTERVAL '3' SECOND, INTERVAL '6' SECOND)",
            "SESSION of GROUP BY": "SELECT k, total(v) FROM s GROUP BY k, SESSION(ts, INTERVAL '3' SECOND)",
            "OVER a range": f"SELECT id, spread(v) {frame} FROM s",
            "OVER rows": f"SELECT id, mean(v) {ranks} FROM s",
            "OVER rows of an aggregate": f"SELECT id, total(v) {ranks} FROM s",
            "window": lambda: s.window(tumble).group_by(col("w"), col("k")).select(col("k"), total(col("v"))),
            "window of pandas": lambda: s.window(tumble).group_by(col("w")).select(spread(col("v"))),
            "window that slides": lambda: s.window(slide).group_by(col("w")).select(total(col("v"))),
            "window with aggregate": lambda: (
                s.window(tumble)
                .group_by(col("w"), col("k"))
                .aggregate(spread(col("v")).alias("d"))
                .select(col("k"), col("d"))
            ),
            "over_window": lambda: s.over_window(rows).select(col("id"), spread(col("v")).over(col("w"))),
        },
    )
