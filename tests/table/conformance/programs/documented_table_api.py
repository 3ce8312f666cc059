# mypy: disable-error-code="import-not-found,import-untyped,misc,untyped-decorator"
"""What the pages on the Table API and on Python in tables show: each method in the forms of the pages, on other data."""

from pyflink.table import DataTypes, FormatDescriptor, Schema, TableDescriptor
from pyflink.table.expressions import (
    CURRENT_RANGE,
    CURRENT_ROW,
    UNBOUNDED_RANGE,
    UNBOUNDED_ROW,
    call,
    col,
    concat,
    lit,
    row_interval,
    with_columns,
    without_columns,
)
from pyflink.table.window import Over, Session, Slide, Tumble
from tests.table.conformance.registry import BOTH, program
from tests.table.conformance.shapes import outcomes


def orders(t_env):
    rows = [("ann", "tea", 3, 2.5), ("bob", "ice", 1, 4.0), ("ann", "ice", 7, 1.25), ("cid", "tea", 2, 2.5)]
    return t_env.from_elements(rows, ["who", "item", "n", "price"])


def timed(t_env, directory):
    """Return rows with a rowtime: (k, n, ts)."""
    path = f"{directory}/timed"
    columns = "k STRING, n INT, ts TIMESTAMP(3)"
    options = f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    t_env.execute_sql(f"CREATE TABLE written ({columns}) {options}")
    rows = [("a", 1, 1), ("b", 2, 2), ("a", 3, 3), ("a", 4, 12), ("b", 5, 14), ("a", 6, 31)]
    values = ", ".join(f"('{k}', {n}, TIMESTAMP '2024-01-01 00:00:{second:02}')" for k, n, second in rows)
    t_env.execute_sql(f"INSERT INTO written VALUES {values}").wait()
    mark = "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
    t_env.execute_sql(f"CREATE TABLE timed ({columns}, p AS PROCTIME(), {mark}) {options}")
    return t_env.from_path("timed")


@program(3, modes=BOTH)
def pages_projections(env, t_env):
    table = orders(t_env)
    t_env.create_temporary_view("orders", table)
    return outcomes(
        lambda: t_env.from_path("orders"),
        lambda: t_env.from_path("orders").group_by(col("who")).select(col("who"), col("n").count.alias("c")),
        lambda: table.filter(col("n").is_not_null & col("price").is_not_null).select(col("who").lower_case, col("n")),
        lambda: table.select(col("who"), col("n").alias("d")),
        lambda: table.select(col("*")),
        lambda: table.select("*"),
        lambda: table.alias("x, y, z, t"),
        lambda: table.alias("x", "y", "z", "t"),
        lambda: table.alias("x", "y", "z", "t").select(col("x"), col("t")),
        lambda: table.where(col("who") == "ann"),
        lambda: table.filter(col("n") % 2 == 0),
        lambda: table.filter(col("nothing") == 1),
        lambda: table.add_columns(concat(col("item"), "sunny")),
        lambda: table.add_columns(concat(col("item"), "sunny").alias("desc")),
        lambda: table.add_columns(col("n").alias("who")),
        lambda: table.add_or_replace_columns(concat(col("item"), "sunny").alias("desc")),
        lambda: table.add_or_replace_columns(col("n").alias("who")),
        lambda: table.drop_columns(col("item"), col("n")),
        lambda: table.drop_columns(col("nothing")),
        lambda: table.rename_columns(col("item").alias("item2"), col("n").alias("n2")),
        lambda: table.rename_columns(col("nothing").alias("x")),
        lambda: table.select(with_columns(col("who"), col("n"))),
        lambda: table.select(with_columns(1, 2)),
        lambda: table.select(without_columns(col("who"))),
        lambda: table.select(table.who, table.price * 2),
        lambda: table.select(lit(1), lit("x"), lit(None, DataTypes.INT())),
        lambda: table.select((col("n") > 2).then("more", "less").alias("c")),
        lambda: table.select(col("n").cast(DataTypes.STRING()).alias("c")),
        lambda: table.select(call("UPPER", col("who")).alias("c")),
        lambda: table.select(call("nothing", col("who"))),
        lambda: table.select(col("n").sum, col("price").avg, col("who").count),
        lambda: t_env.sql_query(f"SELECT SUM(n) FROM {table} WHERE item LIKE '%e%'"),
        lambda: t_env.from_elements([(1, "Hi"), (2, "Hello")]),
        lambda: t_env.from_elements([(1, "Hi"), (2, "Hello")], ["id", "data"]),
        lambda: t_env.from_elements(
            [(1, "Hi")],
            DataTypes.ROW([DataTypes.FIELD("id", DataTypes.TINYINT()), DataTypes.FIELD("d", DataTypes.STRING())]),
        ),
        lambda: t_env.from_path("nowhere"),
    )


@program(3, modes=BOTH)
def pages_groups_of_the_table_api(env, t_env):
    table = orders(t_env)
    return outcomes(
        lambda: table.group_by(col("who")).select(col("who"), col("n").sum.alias("d")),
        lambda: table.group_by(col("who"), col("item")).select(col("item"), col("n").max, col("n").min),
        lambda: table.group_by(col("who")).select(col("who"), col("n").sum.distinct.alias("d")),
        lambda: table.group_by(col("who")).select(col("item").count.distinct),
        lambda: table.select(col("item").count.distinct.alias("c")),
        table.distinct,
        lambda: table.select(col("item")).distinct(),
        lambda: table.group_by(col("who")).select(col("item")),
        lambda: table.group_by(col("n") % 2).select((col("n") % 2).alias("odd"), col("n").sum),
        lambda: table.group_by((col("n") % 2).alias("odd")).select(col("odd"), col("n").sum.alias("s")),
        lambda: table.group_by(col("who")).select(col("who"), col("n").stddev_pop, col("n").var_samp),
        lambda: table.group_by(col("who")).select(col("n").collect),
        lambda: table.select(col("n").first_value, col("n").last_value),
        lambda: table.group_by(col("who")).select(col("item").list_agg("-")),
    )


@program(3, modes=BOTH)
def pages_joins_of_the_table_api(env, t_env):
    left = t_env.from_elements([(1, "x", 10), (2, "y", 20), (3, "z", 30)], ["a", "b", "c"])
    right = t_env.from_elements([("x", 1.5, "p"), ("z", 2.5, "q"), ("w", 3.5, "r")], ["d", "e", "f"])
    same = t_env.from_elements([(1, "x", 10), (1, "x", 10), (4, "w", 40)], ["a", "b", "c"])
    return outcomes(
        lambda: left.join(right).where(col("b") == col("d")).select(col("a"), col("b"), col("e")),
        lambda: left.join(right, col("b") == col("d")).select(left.a, right.e),
        lambda: left.left_outer_join(right, col("b") == col("d")).select(col("a"), col("b"), col("e")),
        lambda: left.right_outer_join(right, col("b") == col("d")).select(col("a"), col("b"), col("e")),
        lambda: left.full_outer_join(right, col("b") == col("d")).select(col("a"), col("b"), col("e")),
        lambda: left.left_outer_join(right),
        lambda: left.join(same),
        lambda: left.union(same),
        lambda: left.union_all(same),
        lambda: left.intersect(same),
        lambda: left.intersect_all(same),
        lambda: left.minus(same),
        lambda: left.minus_all(same),
        lambda: left.union_all(right),
        lambda: left.select(col("a"), col("b")).where(col("b").in_(right.select(col("d")))),
        lambda: left.where(col("a").in_(1, 3)),
        lambda: left.where(~col("b").in_(right.select(col("d"))) & (col("a") > 1)),
        lambda: left.where((col("a") + 3).in_(same.select(col("a")))).select(col("a")),
        lambda: left.where(col("b").in_(right)),
        lambda: left.select(col("b").in_(right.select(col("d")))),
        lambda: t_env.sql_query(f"SELECT a FROM {left} LIMIT 0"),
        lambda: t_env.sql_query(f"SELECT a FROM {left} ORDER BY a OFFSET 1 ROWS FETCH NEXT 0 ROWS ONLY"),
        lambda: left.order_by(col("a").asc).fetch(2),
        lambda: left.order_by(col("a").desc).offset(1).fetch(1),
        lambda: left.order_by(col("a").asc).offset(1),
        lambda: left.order_by(col("b").asc),
        lambda: left.order_by(col("a").desc).limit(1),
        lambda: left.order_by(col("a").desc).limit(1, 1),
        lambda: left.limit(0),
        lambda: left.fetch(-1),
    )


@program(3, modes=BOTH, directory=True)
def pages_windows_of_the_table_api(env, t_env, directory):
    table = timed(t_env, directory)
    ten = Tumble.over(lit(10).seconds).on(col("ts")).alias("w")
    slide = Slide.over(lit(10).seconds).every(lit(5).seconds).on(col("ts")).alias("w")
    gap = Session.with_gap(lit(5).seconds).on(col("ts")).alias("w")
    times = (col("w").start, col("w").end, col("w").rowtime)
    over = Over.partition_by(col("k")).order_by(col("ts"))
    sums = (col("k"), col("n").sum.over(col("v")), col("n").min.over(col("v")))
    return outcomes(
        lambda: table.window(ten).group_by(col("w")).select(col("n").sum),
        lambda: table.window(ten).group_by(col("w"), col("k")).select(col("k"), *times, col("n").sum.alias("s")),
        lambda: table.window(slide).group_by(col("w"), col("k")).select(col("k"), *times, col("n").sum.alias("s")),
        lambda: table.window(gap).group_by(col("w"), col("k")).select(col("k"), *times, col("n").sum.alias("s")),
        lambda: table.window(ten).group_by(col("k")).select(col("n").sum),
        lambda: table.window(ten).group_by(col("w"), col("k")).select(col("n").sum.distinct),
        lambda: table.over_window(over.preceding(UNBOUNDED_RANGE).alias("v")).select(*sums),
        lambda: table.over_window(over.preceding(UNBOUNDED_ROW).alias("v")).select(*sums),
        lambda: table.over_window(over.preceding(lit(5).seconds).alias("v")).select(*sums),
        lambda: table.over_window(over.preceding(row_interval(1)).alias("v")).select(*sums),
        lambda: table.over_window(over.preceding(UNBOUNDED_RANGE).following(CURRENT_RANGE).alias("v")).select(*sums),
        lambda: table.over_window(over.preceding(row_interval(2)).following(CURRENT_ROW).alias("v")).select(*sums),
        lambda: table.over_window(over.alias("v")).select(*sums),
        lambda: table.over_window(over.alias("v")).select(col("n").sum.distinct.over(col("v"))),
        lambda: table.over_window(Over.order_by(col("ts")).preceding(UNBOUNDED_ROW).alias("v")).select(*sums),
        lambda: (
            table.join(table.alias("k2", "n2", "ts2", "p2"))
            .where((col("k") == col("k2")) & (col("ts") >= col("ts2") - lit(5).seconds) & (col("ts") < col("ts2")))
            .select(col("n"), col("n2"))
        ),
    )


@program(3, modes=BOTH, directory=True)
def pages_descriptors(env, t_env, directory):
    """Return what tables of descriptors are, and what they have after rows were written."""
    schema = Schema.new_builder().column("item", DataTypes.STRING()).column("n", DataTypes.INT()).build()
    form = FormatDescriptor.for_format("csv").option("field-delimiter", ";").build()
    descriptor = (
        TableDescriptor.for_connector("filesystem").schema(schema).option("path", f"{directory}/d").format(form)
    )
    t_env.create_temporary_table("written", descriptor.build())
    t_env.create_table("kept", descriptor.build())
    numbers = TableDescriptor.for_connector("datagen").option("number-of-rows", "3").option("fields.x.kind", "sequence")
    numbers = numbers.option("fields.x.start", "1").option("fields.x.end", "3")
    bounded = numbers.schema(Schema.new_builder().column("x", DataTypes.INT()).build()).build()
    table = orders(t_env).select(col("item"), col("n").cast(DataTypes.INT()).alias("n"))
    table.execute_insert("written").wait()
    statements = t_env.create_statement_set()
    statements.add_insert("kept", table.where(col("n") > 2)).add_insert_sql("INSERT INTO written SELECT 'more', 9")
    statements.execute().wait()
    found = outcomes(
        lambda: t_env.from_path("written"),
        lambda: t_env.from_descriptor(bounded),
        lambda: t_env.from_path("kept").group_by(col("item")).select(col("item"), col("n").sum.alias("s")),
    )
    listed = [sorted(t_env.list_tables()), t_env.list_temporary_tables(), t_env.list_views(), t_env.list_catalogs()]
    functions = t_env.list_functions()
    dropped = [t_env.drop_temporary_table("written"), t_env.drop_temporary_table("written"), t_env.drop_table("kept")]
    return [*found, listed, functions, t_env.list_user_defined_functions(), dropped, t_env.list_modules()]
