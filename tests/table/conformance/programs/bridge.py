# mypy: disable-error-code="import-not-found,import-untyped"
"""Streams to tables, and back."""

import datetime as dt
from decimal import Decimal

from pyflink.common import Row, RowKind, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessFunction
from pyflink.table import ChangelogMode, DataTypes, Schema, TableDescriptor
from pyflink.table.expressions import call, col, concat, if_then_else, lit, row
from pyflink.table.udf import udaf, udf, udtf
from tests.table.conformance.registry import BOTH, program


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def pairs(env):
    return env.from_collection([("a", 1), ("b", 2), ("c", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))


def rows(env):
    kind = Types.ROW_NAMED(["name", "score"], [Types.STRING(), Types.INT()])
    return env.from_collection([Row("alice", 12), Row("bob", 10), Row("alice", 100)], kind)


def timed(env):
    stream = env.from_collection([("a", 1000), ("b", 2000), ("a", 5000)], Types.TUPLE([Types.STRING(), Types.LONG()]))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return stream.assign_timestamps_and_watermarks(strategy)


@program(modes=BOTH)
def a_stream_of_tuples_has_columns_f0_and_f1(env, t_env):
    return t_env.from_data_stream(pairs(env))


@program(modes=BOTH)
def a_stream_of_rows_has_their_names(env, t_env):
    return t_env.from_data_stream(rows(env))


@program()
def a_stream_of_rows_without_names(env, t_env):
    return t_env.from_data_stream(env.from_collection([Row(1, "x")], Types.ROW([Types.INT(), Types.STRING()])))


@program()
def a_stream_of_strings_has_a_column_f0(env, t_env):
    return t_env.from_data_stream(env.from_collection(["x", "y"], Types.STRING()))


@program()
def streams_of_other_basic_types(env, t_env):
    return [
        t_env.from_data_stream(env.from_collection(values, kind))
        for values, kind in (
            ([1, 2], Types.INT()),
            ([1, 2], Types.LONG()),
            ([1.5], Types.DOUBLE()),
            ([True], Types.BOOLEAN()),
            ([Decimal("1.50")], Types.BIG_DEC()),
            ([dt.date(2020, 1, 2)], Types.SQL_DATE()),
            ([dt.time(1, 2, 3)], Types.SQL_TIME()),
            ([dt.datetime(2020, 1, 2, 3, 4, 5)], Types.SQL_TIMESTAMP()),
        )
    ]


@program()
def streams_of_constructed_types(env, t_env):
    return [
        t_env.from_data_stream(env.from_collection(values, kind))
        for values, kind in (
            ([([1, 2], "a")], Types.TUPLE([Types.BASIC_ARRAY(Types.INT()), Types.STRING()])),
            ([({"a": 1}, 1)], Types.TUPLE([Types.MAP(Types.STRING(), Types.INT()), Types.INT()])),
            (
                [(Row(1, "x"), 1)],
                Types.TUPLE([Types.ROW_NAMED(["p", "q"], [Types.INT(), Types.STRING()]), Types.INT()]),
            ),
        )
    ]


@program()
def columns_renamed_by_expressions(env, t_env):
    return t_env.from_data_stream(pairs(env), col("name"), col("number"))


@program()
def columns_picked_and_aliased_by_expressions(env, t_env):
    return t_env.from_data_stream(pairs(env), col("f1"), col("f0").alias("name"))


@program()
def a_schema_with_types_for_the_columns(env, t_env):
    schema = Schema.new_builder().column("f0", DataTypes.STRING()).column("f1", DataTypes.BIGINT()).build()
    return t_env.from_data_stream(pairs(env), schema)


@program()
def a_schema_with_columns_by_expression(env, t_env):
    schema = (
        Schema.new_builder()
        .column("f0", "STRING")
        .column("f1", "INT")
        .column_by_expression("twice", "f1 * 2")
        .column_by_expression("upper", call("UPPER", col("f0")))
        .build()
    )
    return t_env.from_data_stream(pairs(env), schema)


@program()
def a_schema_with_only_a_computed_column(env, t_env):
    schema = Schema.new_builder().column_by_expression("pt", "f1 + 1").build()
    return t_env.from_data_stream(pairs(env), schema)


@program()
def a_schema_with_rowtime_from_the_stream(env, t_env):
    schema = (
        Schema.new_builder()
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .watermark("rowtime", "SOURCE_WATERMARK()")
        .build()
    )
    table = t_env.from_data_stream(timed(env), schema)
    texts = table.select(col("f0"), col("f1"), col("rowtime").cast(DataTypes.STRING()).alias("rowtime"))
    return [texts, t_env.to_data_stream(table).map(lambda r: repr(r[2]), Types.STRING())]


@program()
def a_schema_with_rowtime_by_expression(env, t_env):
    schema = (
        Schema.new_builder()
        .column_by_expression("ts", "TO_TIMESTAMP(FROM_UNIXTIME(f1 / 1000))")
        .watermark("ts", "ts - INTERVAL '1' SECOND")
        .build()
    )
    return t_env.from_data_stream(timed(env), schema)


@program()
def rowtime_by_expression_of_the_old_style(env, t_env):
    return t_env.from_data_stream(timed(env), col("name"), col("n"), col("ts").rowtime)


@program()
def a_schema_with_a_primary_key(env, t_env):
    schema = (
        Schema.new_builder().column("f0", DataTypes.STRING().not_null()).column("f1", "INT").primary_key("f0").build()
    )
    return t_env.from_data_stream(pairs(env), schema)


@program(modes=BOTH)
def to_data_stream_gives_rows(env, t_env):
    return t_env.to_data_stream(t_env.from_data_stream(rows(env)))


@program(modes=BOTH)
def to_data_stream_then_map(env, t_env):
    t_env.create_temporary_view("input", rows(env))
    result = t_env.sql_query("SELECT UPPER(name) AS n, score * 2 AS s FROM input WHERE score > 10")
    return t_env.to_data_stream(result).map(lambda r: (r[0], r.s), Types.TUPLE([Types.STRING(), Types.INT()]))


@program()
def to_data_stream_keeps_types(env, t_env):
    table = t_env.sql_query(
        "SELECT 1 AS i, CAST(2 AS BIGINT) AS l, 'x' AS s, 1.5 AS d, CAST(1.5 AS DOUBLE) AS f, TRUE AS b, "
        "ARRAY[1, 2] AS a, MAP['k', 1] AS m, ROW(1, 'x') AS r, CAST(NULL AS INT) AS n"
    )
    return t_env.to_data_stream(table)


@program(modes=BOTH)
def to_append_stream_of_rows(env, t_env):
    table = t_env.from_data_stream(rows(env))
    return t_env.to_append_stream(table, Types.ROW([Types.STRING(), Types.INT()]))


@program()
def to_append_stream_of_tuples(env, t_env):
    return t_env.to_append_stream(t_env.from_data_stream(rows(env)), Types.TUPLE([Types.STRING(), Types.INT()]))


@program()
def to_append_stream_of_strings(env, t_env):
    return t_env.to_append_stream(
        t_env.from_data_stream(env.from_collection(["x", "y"], Types.STRING())), Types.STRING()
    )


@program(3)
def to_retract_stream_of_a_grouping(env, t_env):
    t_env.create_temporary_view("input", rows(env))
    table = t_env.sql_query("SELECT name, SUM(score) FROM input GROUP BY name")
    return t_env.to_retract_stream(table, Types.ROW([Types.STRING(), Types.INT()]))


@program()
def to_retract_stream_of_insertions(env, t_env):
    return t_env.to_retract_stream(t_env.from_data_stream(rows(env)), Types.ROW([Types.STRING(), Types.INT()]))


@program(3, modes=BOTH, order="folded")
def to_changelog_stream_of_a_grouping(env, t_env):
    t_env.create_temporary_view("input", rows(env))
    return t_env.to_changelog_stream(t_env.sql_query("SELECT name, SUM(score) AS total FROM input GROUP BY name"))


@program()
def to_changelog_stream_of_insertions(env, t_env):
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)))


def changes(env):
    return env.from_collection(
        [
            Row.of_kind(RowKind.INSERT, "alice", 12),
            Row.of_kind(RowKind.INSERT, "bob", 5),
            Row.of_kind(RowKind.UPDATE_BEFORE, "alice", 12),
            Row.of_kind(RowKind.UPDATE_AFTER, "alice", 100),
            Row.of_kind(RowKind.DELETE, "bob", 5),
        ],
        Types.ROW([Types.STRING(), Types.INT()]),
    )


@program()
def from_changelog_stream_with_all_kinds(env, t_env):
    return t_env.from_changelog_stream(changes(env))


@program()
def from_changelog_stream_with_a_schema(env, t_env):
    schema = (
        Schema.new_builder().column("f0", DataTypes.STRING().not_null()).column("f1", "INT").primary_key("f0").build()
    )
    return t_env.from_changelog_stream(changes(env), schema)


@program(3)
def from_changelog_stream_then_grouped(env, t_env):
    t_env.create_temporary_view("c", t_env.from_changelog_stream(changes(env)))
    return t_env.sql_query("SELECT f0 AS name, SUM(f1) AS total FROM c GROUP BY f0")


@program()
def from_changelog_stream_then_projected_to_changelog(env, t_env):
    t_env.create_temporary_view("c", t_env.from_changelog_stream(changes(env)))
    return t_env.to_changelog_stream(t_env.sql_query("SELECT f1 + 1 AS g, f0 FROM c WHERE f1 > 5"))


@program(modes=BOTH)
def a_view_of_a_stream_and_one_of_a_table(env, t_env):
    t_env.create_temporary_view("s", pairs(env))
    t_env.create_temporary_view("t", t_env.sql_query("SELECT f0 AS k, f1 + 1 AS v FROM s"))
    return [t_env.sql_query("SELECT * FROM t WHERE v > 2"), t_env.from_path("t"), sorted(t_env.list_views())]


@program()
def a_view_of_a_stream_with_a_schema(env, t_env):
    schema = Schema.new_builder().column("f0", "STRING").column_by_expression("n", "f1 * 10").build()
    t_env.create_temporary_view("s", pairs(env), schema)
    return t_env.sql_query("SELECT f0, n FROM s")


@program(modes=BOTH)
def from_elements_with_names_and_types(env, t_env):
    kind = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("data", DataTypes.STRING())])
    return [
        t_env.from_elements([(1, "Hi"), (2, None)], kind),
        t_env.from_elements([(1, "Hi"), (2, "Hello")], ["id", "data"]),
        t_env.from_elements([(1, "Hi"), (2, "Hello")]),
    ]


@program()
def from_elements_of_all_types(env, t_env):
    kinds = {
        "bo": (DataTypes.BOOLEAN(), True),
        "ti": (DataTypes.TINYINT(), 1),
        "si": (DataTypes.SMALLINT(), 2),
        "i": (DataTypes.INT(), 3),
        "bi": (DataTypes.BIGINT(), 4),
        "f": (DataTypes.FLOAT(), 1.1),
        "d": (DataTypes.DOUBLE(), 1.1),
        "s": (DataTypes.STRING(), "x"),
        "de": (DataTypes.DECIMAL(10, 2), Decimal("1.50")),
        "by": (DataTypes.BYTES(), b"ab"),
        "da": (DataTypes.DATE(), dt.date(2020, 1, 2)),
        "t": (DataTypes.TIME(), dt.time(1, 2, 3)),
        "ts": (DataTypes.TIMESTAMP(3), dt.datetime(2020, 1, 2, 3, 4, 5, 678000)),
        "ar": (DataTypes.ARRAY(DataTypes.STRING()), ["a", None]),
        "ma": (DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), {"a": 1}),
        "ro": (DataTypes.ROW([DataTypes.FIELD("p", DataTypes.INT())]), Row(1)),
    }
    schema = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, (kind, _) in kinds.items()])
    return t_env.from_elements([tuple(value for _, value in kinds.values()), (None,) * len(kinds)], schema)


def scores(t_env):
    return t_env.from_elements([("a", 1, 1.5), ("b", 2, -2.0), ("a", 3, None)], DataTypes.ROW([
        DataTypes.FIELD("k", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("x", DataTypes.DOUBLE())]))  # fmt: skip


@program(modes=BOTH)
def select_filter_and_alias(env, t_env):
    t = scores(t_env)
    return [
        t.select(col("k"), (col("n") + 1).alias("m")),
        t.select(t.k, t.n * 2),
        t.where(col("n") > 1).select(col("*")),
        t.filter((col("n") > 1) & (col("x").is_null | (col("k") == "b"))),
        t.alias("a", "b", "c"),
        t.select(lit(1).alias("one"), lit("x"), lit(None, DataTypes.INT()).alias("nothing")),
        t.select(if_then_else(col("n") > 1, "big", "small").alias("size"), concat(col("k"), "!").alias("k2")),
        t.select(
            col("n").cast(DataTypes.STRING()).alias("s"),
            col("x").is_not_null.alias("has"),
            row(col("k"), col("n")).alias("r"),
        ),
        t.select(
            col("k").upper_case.alias("u"),
            col("k").char_length.alias("l"),
            (-col("n")).alias("neg"),
            (col("n") % 2).alias("odd"),
        ),
        t.select(col("n").between(1, 2).alias("b"), col("k").in_("a", "z").alias("i"), ~(col("n") == 1)),
        t.select(call("UPPER", col("k")).alias("u"), col("x").abs.alias("abs"), col("x").floor.alias("fl")),
    ]


@program()
def columns_are_added_renamed_and_dropped(env, t_env):
    t = scores(t_env)
    return [
        t.add_columns((col("n") * 2).alias("twice")),
        t.add_columns(concat(col("k"), "x")),
        t.add_or_replace_columns((col("n") * 2).alias("n")),
        t.rename_columns(col("n").alias("number")),
        t.drop_columns(col("x")),
    ]


@program(modes=BOTH, order="multiset")
def tables_are_combined(env, t_env):
    t = scores(t_env)
    return [t.union_all(t.select(col("k"), col("n") + 10, col("x"))), t.union_all(t).where(col("n") == 1)]


@program(order="multiset", modes=("BATCH",))
def set_operations_in_batch(env, t_env):
    t = scores(t_env).select(col("k"))
    other = t_env.from_elements([("a",), ("z",)], ["k"])
    return [
        t.union(other),
        t.minus(other),
        t.minus_all(other),
        t.intersect(other),
        t.intersect_all(other),
        t.distinct(),
    ]


@program(modes=("BATCH",))
def order_limit_and_offset_in_batch(env, t_env):
    t = scores(t_env)
    return [
        t.order_by(col("n").desc),
        t.order_by(col("n")).fetch(2),
        t.order_by(col("k"), col("n").desc).offset(1),
        t.order_by(col("x").asc),
    ]


@program(3, order="folded", modes=BOTH)
def group_by_and_aggregates(env, t_env):
    t = scores(t_env)
    return [
        t.group_by(col("k")).select(
            col("k"), col("n").sum.alias("s"), col("n").count.alias("c"), col("x").avg.alias("a")
        ),
        t.select(col("n").max.alias("m"), col("n").min.alias("l"), col("x").sum0.alias("z")),
        t.group_by(col("k")).aggregate(col("n").sum.alias("s")).select(col("k"), col("s")),
    ]


@program(3, order="folded", modes=BOTH)
def joins_of_tables(env, t_env):
    left = t_env.from_elements([(1, "a"), (2, "b"), (3, "c")], ["i", "s"])
    right = t_env.from_elements([(1, "x"), (1, "y"), (4, "z")], ["j", "r"])
    return [
        left.join(right).where(col("i") == col("j")).select(col("i"), col("s"), col("r")),
        left.join(right, col("i") == col("j")),
        left.left_outer_join(right, col("i") == col("j")),
        left.right_outer_join(right, col("i") == col("j")),
        left.full_outer_join(right, col("i") == col("j")),
    ]


def plus(n, m):
    return n + m


for execution in ("process", "thread"):
    config = {"python.execution-mode": execution}

    def scalar(env, t_env):
        add = udf(lambda i, j: i + j, result_type=DataTypes.BIGINT(), func_type="general")

        @udf(result_type=DataTypes.STRING())
        def describe(k, n):
            return f"{k}:{type(n).__name__}:{n}"

        t_env.create_temporary_function("told", describe)
        t_env.create_temporary_system_function("plus", udf(plus, result_type="INT"))
        t = scores(t_env)
        t_env.create_temporary_view("scores", t)
        return [
            t.select(add(col("n").cast(DataTypes.BIGINT()), 1).alias("m"), describe(col("k"), col("x")).alias("d")),
            t_env.sql_query("SELECT told(k, n) AS d, plus(n, 1) + 1 AS p FROM scores WHERE plus(n, n) > 2"),
            t.select(call("plus", col("n"), 5)),
        ]

    def table_function(env, t_env):
        @udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
        def split(s):
            for word in s.split(" "):
                yield word, len(word)

        t_env.create_temporary_function("words", split)
        t = t_env.from_elements([(1, "hello big world"), (2, "x")], ["id", "line"])
        t_env.create_temporary_view("lines", t)
        return [
            t_env.sql_query("SELECT id, word, n FROM lines, LATERAL TABLE(words(line)) AS T(word, n)"),
            t_env.sql_query("SELECT id, word FROM lines LEFT JOIN LATERAL TABLE(words(line)) AS T(word, n) ON TRUE"),
            t.join_lateral(split(col("line")).alias("word", "n")).select(col("word"), col("n")),
            t.left_outer_join_lateral(split(col("line")).alias("word", "n")),
            t.flat_map(split(col("line"))).alias("w", "n"),
        ]

    def mapped(env, t_env):
        @udf(
            result_type=DataTypes.ROW([DataTypes.FIELD("a", DataTypes.STRING()), DataTypes.FIELD("b", DataTypes.INT())])
        )
        def both(k, n):
            return Row(k + "!", n * n)

        @udf(
            result_type=DataTypes.ROW([DataTypes.FIELD("a", DataTypes.STRING()), DataTypes.FIELD("b", DataTypes.INT())])
        )
        def whole(r):
            return Row(r.k * 2, r[1])

        t = scores(t_env)
        return [t.map(both(col("k"), col("n"))), t.map(whole).alias("p", "q"), t.map(whole)]

    for function, label in (
        (scalar, "scalar_functions"),
        (table_function, "table_functions"),
        (mapped, "map_with_functions"),
    ):
        function.__name__ = f"{label}_of_python_in_{execution}_mode"
        program(config=config)(function)


@program(3, order="folded", modes=BOTH, config={"python.execution-mode": "process"})
def an_aggregate_function_of_python(env, t_env):
    from pyflink.table import AggregateFunction

    class WeightedMean(AggregateFunction):
        def create_accumulator(self):
            return Row(0, 0)

        def get_value(self, accumulator):
            return None if accumulator[1] == 0 else accumulator[0] / accumulator[1]

        def accumulate(self, accumulator, value, weight):
            accumulator[0] += value * weight
            accumulator[1] += weight

        def retract(self, accumulator, value, weight):
            accumulator[0] -= value * weight
            accumulator[1] -= weight

        def get_result_type(self):
            return DataTypes.DOUBLE()

        def get_accumulator_type(self):
            return DataTypes.ROW([DataTypes.FIELD("f0", DataTypes.BIGINT()), DataTypes.FIELD("f1", DataTypes.BIGINT())])

    mean = udaf(WeightedMean())
    t = t_env.from_elements([("a", 1, 2), ("b", 5, 1), ("a", 4, 1)], ["k", "v", "w"])
    t_env.create_temporary_function("mean", mean)
    t_env.create_temporary_view("t", t)
    return [
        t.group_by(col("k")).select(col("k"), mean(col("v"), col("w")).alias("m")),
        t_env.sql_query("SELECT k, mean(v, w) AS m FROM t GROUP BY k"),
    ]


@program()
def what_arguments_a_python_function_gets(env, t_env):
    @udf(result_type=DataTypes.STRING())
    def show(*values):
        return " ".join(f"{type(value).__name__}={value!r}" for value in values)

    t_env.create_temporary_function("show_all", show)
    return t_env.sql_query(
        "SELECT show_all(1, CAST(1 AS BIGINT), 'x', 1.50, CAST(1.1 AS FLOAT), CAST(1.1 AS DOUBLE), TRUE), "
        "show_all(DATE '2020-01-02', TIME '01:02:03', TIMESTAMP '2020-01-02 03:04:05.678', TO_TIMESTAMP_LTZ(0, 3)), "
        "show_all(ARRAY[1, 2], MAP['a', 1], ROW(1, 'x'), x'61', CAST(NULL AS INT))"
    )


@program()
def a_statement_set_attached_to_the_stream_job(env, t_env):
    t_env.execute_sql("CREATE TEMPORARY TABLE nothing (k STRING, v INT) WITH ('connector' = 'blackhole')")
    t_env.create_temporary_view("s", pairs(env))
    statements = t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO nothing SELECT f0, f1 FROM s")
    statements.add_insert("nothing", t_env.sql_query("SELECT f0, f1 + 1 FROM s"))
    statements.attach_as_datastream()
    return pairs(env).map(lambda p: p[0], Types.STRING())


@program()
def execute_insert_and_wait(env, t_env):
    t_env.execute_sql("CREATE TEMPORARY TABLE nothing (k STRING, v INT) WITH ('connector' = 'blackhole')")
    t_env.from_data_stream(pairs(env)).execute_insert("nothing").wait()
    result = t_env.execute_sql("INSERT INTO nothing VALUES ('x', 1)")
    result.wait()
    return [str(result.get_result_kind()), result]


@program()
def explain_gives_text(env, t_env):
    t_env.create_temporary_view("s", pairs(env))
    return [bool(t_env.explain_sql("SELECT * FROM s")), bool(t_env.sql_query("SELECT f0 FROM s").explain())]


@program()
def names_of_tables_views_and_functions(env, t_env):
    t_env.execute_sql("CREATE TABLE a (i INT) WITH ('connector' = 'blackhole')")
    t_env.create_temporary_view("b", pairs(env))
    t_env.create_temporary_function("f", udf(plus, result_type="INT"))
    found = [
        t_env.list_catalogs(), t_env.list_databases(), sorted(t_env.list_tables()), sorted(t_env.list_views()),
        sorted(t_env.list_temporary_tables()), sorted(t_env.list_temporary_views()), sorted(t_env.list_user_defined_functions()),
        t_env.get_current_catalog(), t_env.get_current_database(),
        t_env.drop_temporary_view("b"), t_env.drop_temporary_view("b"), t_env.drop_temporary_function("f"), sorted(t_env.list_tables()),
    ]  # fmt: skip
    return [{"found": item}["found"] if not isinstance(item, list) else tuple(item) for item in found]


@program(2, order="multiset", modes=BOTH)
def a_tumbling_group_window_of_the_table_api(env, t_env):
    from pyflink.table.expressions import lit as of
    from pyflink.table.window import Session, Slide, Tumble

    schema = (
        Schema.new_builder()
        .column_by_expression("ts", "TO_TIMESTAMP(FROM_UNIXTIME(f1 / 1000))")
        .watermark("ts", "ts - INTERVAL '1' SECOND")
        .build()
    )
    t = t_env.from_data_stream(timed(env), schema)
    return [
        t.window(Tumble.over(of(2).seconds).on(col("ts")).alias("w"))
        .group_by(col("w"), col("f0"))
        .select(col("f0"), col("w").start.alias("s"), col("w").end.alias("e"), col("f1").sum.alias("n")),
        t.window(Slide.over(of(4).seconds).every(of(2).seconds).on(col("ts")).alias("w"))
        .group_by(col("w"))
        .select(col("w").start.alias("s"), col("f1").count.alias("n")),
        t.window(Session.with_gap(of(2).seconds).on(col("ts")).alias("w"))
        .group_by(col("w"))
        .select(
            col("w").start.alias("s"), col("w").end.alias("e"), col("w").rowtime.alias("r"), col("f1").count.alias("n")
        ),
    ]


@program(2)
def rowtime_survives_the_way_through_a_table(env, t_env):
    class Timestamps(ProcessFunction):
        def process_element(self, value, ctx):
            yield f"{value[0]} {ctx.timestamp()}"

    schema = (
        Schema.new_builder()
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .watermark("rowtime", "SOURCE_WATERMARK()")
        .build()
    )
    t_env.create_temporary_view("s", t_env.from_data_stream(timed(env), schema))
    result = t_env.sql_query("SELECT f0, rowtime FROM s WHERE f1 > 1500")
    return t_env.to_data_stream(result).process(Timestamps(), Types.STRING())


@program(1)
def streams_without_a_type(env, t_env):
    numbers = env.from_collection([1, 2, 3])
    t_env.create_temporary_view("n", numbers)
    return [
        t_env.from_path("n").select(col("f0").is_null),
        t_env.sql_query("SELECT COUNT(*) AS c, COUNT(f0) AS d FROM n"),
    ]


@program(1)
def comparing_what_has_no_type(env, t_env):
    t_env.create_temporary_view("n", env.from_collection([1, 2, 3]))
    return t_env.sql_query("SELECT f0 FROM n WHERE f0 > 1")


@program(1)
def adding_to_what_has_no_type(env, t_env):
    return t_env.from_data_stream(env.from_collection([1, 2, 3])).select(col("f0") + 1)


@program(1)
def inserting_what_has_no_type(env, t_env):
    table = t_env.from_data_stream(env.from_collection([1, 2, 3]))
    statements = t_env.create_statement_set()
    statements.add_insert(TableDescriptor.for_connector("blackhole").build(), table)
    statements.attach_as_datastream()
    env.execute()
    return ["done"]


def grouped(env, t_env):
    t_env.create_temporary_view("input", rows(env))
    return t_env.sql_query("SELECT name, SUM(score) AS total FROM input GROUP BY name")


def target(*columns, key=None):
    builder = Schema.new_builder()
    for name, kind in columns:
        builder = builder.column(name, kind)
    return (builder.primary_key(key) if key else builder).build()


@program(3, modes=BOTH, order="folded")
def to_changelog_stream_of_all_kinds(env, t_env):
    schema = target(("name", "STRING"), ("total", "BIGINT"))
    return t_env.to_changelog_stream(grouped(env, t_env), schema, ChangelogMode.all())


@program(3)
def to_changelog_stream_with_another_type(env, t_env):
    schema = target(("name", "STRING"), ("score", "BIGINT"))
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)), schema)


@program(3)
def to_changelog_stream_with_columns_in_another_order(env, t_env):
    schema = target(("score", "DOUBLE"), ("name", "STRING"))
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)), schema)


@program(3)
def to_changelog_stream_with_other_names(env, t_env):
    schema = target(("a", "STRING"), ("b", "DECIMAL(10, 2)"))
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)), schema, ChangelogMode.insert_only())


@program(3)
def to_changelog_stream_of_a_schema_without_columns(env, t_env):
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)), Schema.new_builder().build())


@program(3)
def to_changelog_stream_with_a_mode_alone(env, t_env):
    return t_env.to_changelog_stream(grouped(env, t_env), changelog_mode=ChangelogMode.insert_only())


@program(3)
def to_changelog_stream_with_a_computed_column(env, t_env):
    schema = Schema.new_builder().column("name", "STRING").column("score", "INT").column_by_expression("x", "score")
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)), schema.build())


@program(3, modes=BOTH, order="folded")
def to_changelog_stream_of_upserts(env, t_env):
    schema = target(("name", DataTypes.STRING().not_null()), ("total", "INT"), key="name")
    return t_env.to_changelog_stream(grouped(env, t_env), schema, ChangelogMode.upsert())


@program(3)
def to_changelog_stream_of_upserts_without_a_key(env, t_env):
    schema = target(("name", "STRING"), ("total", "INT"))
    return t_env.to_changelog_stream(grouped(env, t_env), schema, ChangelogMode.upsert())


@program(3)
def to_changelog_stream_of_updates_as_insertions(env, t_env):
    schema = target(("name", "STRING"), ("total", "INT"))
    return t_env.to_changelog_stream(grouped(env, t_env), schema, ChangelogMode.insert_only())


@program(3)
def to_changelog_stream_of_too_few_columns(env, t_env):
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)), target(("name", "STRING")))


@program(3)
def to_changelog_stream_of_types_that_do_not_fit(env, t_env):
    return t_env.to_changelog_stream(t_env.from_data_stream(rows(env)), target(("name", "INT"), ("score", "INT")))


@program(3)
def to_changelog_stream_with_rowtime_as_metadata(env, t_env):
    class Timestamps(ProcessFunction):
        def process_element(self, value, ctx):
            yield f"{list(value)[:2]} {len(value)} {ctx.timestamp()}"

    timed_schema = (
        Schema.new_builder()
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .watermark("rowtime", "SOURCE_WATERMARK()")
        .build()
    )
    table = t_env.from_data_stream(timed(env), timed_schema)
    derived = Schema.new_builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").build()
    declared = (
        Schema.new_builder()
        .column("f0", "STRING")
        .column("f1", "BIGINT")
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .build()
    )
    return [
        t_env.to_changelog_stream(table, schema).process(Timestamps(), Types.STRING()) for schema in (derived, declared)
    ]


@program(3)
def rows_within_arrays_and_maps(env, t_env):
    values = "SELECT ARRAY[ROW(1)] AS a, MAP['k', ROW(1, 'x')] AS m, ARRAY[ARRAY[ROW(1)]] AS aa, ROW(ROW(1), ARRAY[ROW(2)]) AS r"
    return t_env.sql_query(values)


@program(3)
def named_rows_within_arrays_and_maps(env, t_env):
    inner = "ROW<x INT>"
    query = (
        f"SELECT CAST(ARRAY[ROW(1)] AS ARRAY<{inner}>) AS a, CAST(MAP['k', ROW(1)] AS MAP<STRING, {inner}>) AS m, "
        f"CAST(ARRAY[ARRAY[ROW(1)]] AS ARRAY<ARRAY<{inner}>>) AS aa, CAST(ROW(ARRAY[ROW(2)]) AS ROW<y ARRAY<{inner}>>) AS r"
    )
    texts = [repr(list(row)) for row in t_env.sql_query(query).execute().collect()]
    return [t_env.sql_query(query), *texts]


@program(3)
def rows_as_keys_of_maps(env, t_env):
    query = "SELECT CAST(MAP[ROW(1), 2] AS MAP<ROW<x INT>, INT>) AS m"
    texts = [repr(list(row)) for row in t_env.sql_query(query).execute().collect()]
    return [t_env.sql_query(query), *texts]
