"""Further programs of :mod:`tests.dataframe.equal_programs`: kinds of functions, frames, keys, files and changes."""

from __future__ import annotations

import json
import tempfile
from datetime import date, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path

from tests.dataframe.equal_programs import SALES, declare_timed, program, windows

NAN = float("nan")
MEASURES = [(1, 1.5), (2, NAN), (3, None), (4, -2.5)]
PRICES = [
    ("pear", datetime(2026, 5, 17, 10, 0, 0), 1.5),
    ("pear", datetime(2026, 5, 17, 10, 0, 3), 2.5),
    ("fig", datetime(2026, 5, 17, 10, 0, 5), 0.25),
]


def measures(t_env):
    """Declare a table with NaN."""
    types = import_module("pyflink.table").DataTypes
    fields = types.ROW([types.FIELD("id", types.BIGINT()), types.FIELD("x", types.DOUBLE())])
    t_env.create_temporary_view("measured", t_env.from_elements(MEASURES, fields))


def of_udf(name):
    """Return what ``pyflink.table.udf`` calls so."""
    return getattr(import_module("pyflink.table.udf"), name)


# -- sets, sorting, keys ----------------------------------------------------------------------------------------------


@program("SELECT item FROM sales INTERSECT ALL SELECT item FROM sales WHERE n IS NOT NULL")
def intersect_all(pf, f):
    return f["sales"].select("item").intersect_all(f["sales"].drop_null(["n"]).select("item"))


@program("SELECT item FROM sales EXCEPT SELECT name FROM items WHERE price > 1")
def minus(pf, f):
    return f["sales"].select("item").minus(f["items"].filter("price > 1").select("name"))


def sorted_from_an_offset(t_env):
    """Leave out the first rows."""
    col = import_module("pyflink.table.expressions").col
    return t_env.from_path("sales").order_by(col("id").asc).offset(2).fetch(2)


@program(sorted_from_an_offset)
def sort_and_offset(pf, f):
    return f["sales"].sort("id").offset(2).head(2)


@program(
    "SELECT id, item, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY id DESC) AS r FROM sales) "
    "WHERE r = 1"
)
def drop_duplicates_and_keep_the_last(pf, f):
    return f["sales"].drop_duplicates("item", keep="last", order_by="id")


@program(
    "SELECT id, item, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n ASC NULLS FIRST, id DESC) AS r FROM sales) "
    "WHERE r <= 3"
)
def top_of_all_with_null_first(pf, f):
    return f["sales"].top_n(3, order_by=["n", "id"], descending=[False, True], nulls_first=[True, False])


@program("SELECT a.id, b.n FROM sales a JOIN sales b ON a.id = b.id AND a.item = b.item")
def join_of_two_keys(pf, f):
    return f["sales"].drop("n").join(f["sales"], on=["id", "item"]).select("id", "n")


@program("SELECT id, name FROM sales LEFT JOIN items ON n > price AND item <> name")
def join_by_a_condition(pf, f):
    condition = (pf.col("n") > pf.col("price")) & (pf.col("item") != pf.col("name"))
    return f["sales"].join(f["items"], on=condition, how="left").select("id", "name")


@program("SELECT item, n, COUNT(DISTINCT id) AS k FROM sales GROUP BY item, n")
def groups_of_two_keys(pf, f):
    return f["sales"].group_by("item", "n").agg(k=pf.col("id").count.distinct)


@program("SELECT item, STDDEV_POP(n) AS s, VAR_SAMP(n) AS v, SUM(DISTINCT n) AS d FROM sales GROUP BY item")
def groups_with_variances(pf, f):
    n = pf.col("n")
    return f["sales"].group_by("item").agg(s=n.stddev_pop, v=n.var_samp, d=n.sum.distinct)


# -- columns ----------------------------------------------------------------------------------------------------------


@program(
    "SELECT id, CAST(7 AS BIGINT) AS a, 'x' AS b, CAST(1.50 AS DECIMAL(10, 2)) AS c, DATE '2026-05-17' AS d, "
    "TIMESTAMP '2026-05-17 10:00:00.5' AS e, TRUE AS f, CAST(NULL AS INT) AS g FROM sales"
)
def literals(pf, f):
    lit, kind = pf.lit, pf.DataType
    return f["sales"].select(
        "id",
        a=lit(7, kind.int64()),
        b=lit("x"),
        c=lit(Decimal("1.50"), kind.decimal(10, 2)),
        d=lit(date(2026, 5, 17)),
        e=lit(datetime(2026, 5, 17, 10, 0, 0, 500_000)),
        f=lit(True),
        g=lit(None, kind.int32()),
    )


@program("SELECT id AS ID, item AS ITEM, n AS N FROM sales WHERE id > 1 AND n < 10 AND (item = 'fig' OR item IS NULL)")
def rename_by_a_function_and_filter_by_texts(pf, f):
    kept = f["sales"].pipe(lambda frame, least: frame.filter("id > " + str(least)), 1)
    kept = kept.where(lambda frame: frame["n"] < 10, (pf.col("item") == "fig") | pf.col("item").is_null)
    return kept.rename(str.upper)


@program("SELECT id, item, CASE WHEN n > 5 THEN 'many' ELSE 'few' END AS size FROM sales WHERE id BETWEEN 2 AND 4")
def conditions_and_ranges(pf, f):
    chosen = (pf.col("n") > 5).then("many", "few")
    return f["sales"].filter(pf.col("id").between(2, 4)).with_column("size", chosen).drop_columns("n")


@program("SELECT id, x FROM measured WHERE x IS NULL OR CAST(x AS STRING) <> 'NaN'")
def drop_nan(pf, f):
    return pf.from_records(MEASURES, schema=["id", "x"]).drop_nan()


@program("SELECT id, CASE WHEN CAST(x AS STRING) = 'NaN' THEN CAST(0 AS DOUBLE) ELSE x END AS x FROM measured")
def fill_nan(pf, f):
    return pf.from_records(MEASURES, schema=["id", "x"]).fill_nan(0.0)


@program("SELECT id, COALESCE(item, 'none') AS item, n FROM sales")
def fill_null_of_texts(pf, f):
    return f["sales"].fill_null("none", subset=["item"])


@program(
    "SELECT id, k, v FROM (SELECT id, MAP[COALESCE(item, '-'), n] AS m FROM sales) CROSS JOIN UNNEST(m) AS t(k, v)"
)
def explode_of_maps(pf, f):
    made = pf.sql("SELECT id, MAP[COALESCE(item, '-'), n] AS m FROM s", s=f["sales"])
    return made.explode("m", output_column=["k", "v"]).select("id", "k", "v")


# -- creation ---------------------------------------------------------------------------------------------------------


@program("SELECT * FROM (VALUES (CAST(1 AS BIGINT)), (4), (7)) AS t(id)")
def numbers_of_a_range(pf, f):
    return pf.range(1, 10, 3)


def pandas_frame(t_env):
    """Take a DataFrame of pandas."""
    return t_env.from_pandas(_pandas())


def _pandas():
    pandas = import_module("pandas")
    return pandas.DataFrame({"id": [1, 2], "x": [0.5, None], "who": ["ann", None], "at": [datetime(2026, 5, 17)] * 2})


@program(pandas_frame)
def frame_of_pandas(pf, f):
    return pf.from_pandas(_pandas())


@program("SELECT CAST(id AS BIGINT) AS id, who FROM (VALUES (1, 'ann'), (2, 'bob')) AS t(id, who)")
def frame_of_arrow_and_of_a_dict(pf, f):
    arrow = import_module("pyarrow")
    first = pf.from_arrow(arrow.table({"id": [1], "who": ["ann"]}))
    return first.union_all(pf.from_dict({"who": ["bob"], "id": [2]}, schema=["id", "who"]))


# -- windows and frames -----------------------------------------------------------------------------------------------


@program(windows("SESSION(TABLE timed PARTITION BY item, DESCRIPTOR(`at`), INTERVAL '10' SECOND)"), mode="streaming")
def session(pf, f):
    made = f["timed"].session(on="at", gap=timedelta(seconds=10), partition_by="item")
    return made.group_by("item", "window_start", "window_end").agg(total=pf.col("n").sum)


@program(
    "SELECT id, SUM(n) OVER (ORDER BY id) AS a, COUNT(n) OVER (PARTITION BY item ORDER BY id) AS b, "
    "MAX(id) OVER (PARTITION BY item) AS c FROM sales"
)
def several_frames(pf, f):
    n, key = pf.col("n"), pf.col("id")
    whole = {"order_by": "id", "partition_by": "item", "rows": (pf.UNBOUNDED_PRECEDING, pf.UNBOUNDED_FOLLOWING)}
    return f["sales"].select(
        "id",
        a=n.sum.over(order_by="id", rows=pf.UNBOUNDED),
        b=n.count.over(order_by="id", partition_by="item", rows=(pf.UNBOUNDED_PRECEDING, pf.CURRENT_ROW)),
        c=key.max.over(**whole),
    )


@program("SELECT id, SUM(n) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS s FROM sales")
def rows_that_follow(pf, f):
    return f["sales"].select("id", s=pf.col("n").sum.over(order_by="id", rows=(pf.CURRENT_ROW, pf.following(2))))


@program(
    "SELECT id, SUM(n) OVER (ORDER BY `at` RANGE BETWEEN INTERVAL '15' SECOND PRECEDING AND CURRENT ROW) AS s "
    "FROM timed",
    mode="streaming",
)
def range_of_time(pf, f):
    return f["timed"].select("id", s=pf.col("n").sum.over(order_by="at", range=timedelta(seconds=15)))


@program("SELECT id, item, window_start FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(`at`), INTERVAL '1' MINUTE))")
def rows_of_windows(pf, f):
    return f["timed"].tumble(on="at", size=timedelta(minutes=1)).select("id", "item", "window_start")


# -- functions --------------------------------------------------------------------------------------------------------


def mapped(t_env):
    """Map rows with the Table API."""
    types = import_module("pyflink.table").DataTypes
    row = import_module("pyflink.common").Row
    kind = types.ROW([types.FIELD("id", types.BIGINT()), types.FIELD("size", types.BIGINT())])
    made = of_udf("udf")(lambda r: row(r[0], len(r[1] or "")), result_type=kind)
    return t_env.from_path("sales").map(made).alias("id", "size")


@program(mapped)
def map_of_rows(pf, f):
    return f["sales"].map(
        lambda row: {"id": row["id"], "size": len(row["item"] or "")}, return_dtype="ROW<id BIGINT, size BIGINT>"
    )


def flat_mapped(t_env):
    """Make several rows of each with the Table API."""
    types = import_module("pyflink.table").DataTypes
    made = of_udf("udtf")(
        lambda r: [(r[0], letter) for letter in r[1] or ""], result_types=[types.BIGINT(), types.STRING()]
    )
    return t_env.from_path("sales").flat_map(made).alias("id", "letter")


@program(flat_mapped)
def flat_map_of_rows(pf, f):
    return f["sales"].flat_map(
        lambda row: [{"id": row["id"], "letter": letter} for letter in row["item"] or ""],
        return_dtype="ROW<id BIGINT, letter STRING>",
    )


def mean_in_sql(t_env):
    """Call an aggregate function of pandas."""
    types = import_module("pyflink.table").DataTypes
    made = of_udf("udaf")(
        lambda n: None if n.isna().all() else float(n.mean()), result_type=types.DOUBLE(), func_type="pandas"
    )
    t_env.create_temporary_function("mean_of", made)
    return t_env.sql_query("SELECT item, mean_of(n) AS m FROM sales GROUP BY item")


@program(mean_in_sql)
def pandas_aggregate(pf, f):
    mean = pf.udaf(
        lambda n: None if n.isna().all() else float(n.mean()), return_dtype=pf.DataType.float64(), func_type="pandas"
    )
    return f["sales"].group_by("item").agg(m=mean(pf.col("n")))


def letters_of_some(t_env):
    """Call a table function, and leave out rows without results."""
    types = import_module("pyflink.table").DataTypes
    made = of_udf("udtf")(lambda text: list(text or ""), result_types=types.STRING())
    t_env.create_temporary_function("letters_of", made)
    return t_env.sql_query("SELECT id, letter FROM sales, LATERAL TABLE(letters_of(item)) AS t(letter)")


@program(letters_of_some)
def inner_lateral(pf, f):
    split = pf.udtf(lambda text: list(text or ""), return_dtype=str)
    return f["sales"].join_lateral(split(pf.col("item")).alias("letter")).select("id", "letter")


def arrow_in_sql(t_env):
    """A function of pandas stands for that of Arrow, which PyFlink 2.3 lacks."""
    types = import_module("pyflink.table").DataTypes
    made = of_udf("udf")(lambda n: n * 3, result_type=types.BIGINT(), func_type="pandas")
    t_env.create_temporary_function("thrice", made)
    return t_env.sql_query("SELECT id, thrice(id) AS t FROM sales")


@program(arrow_in_sql)
def arrow_function(pf, f):
    compute = import_module("pyarrow.compute")
    thrice = pf.udf(lambda n: compute.multiply(n, 3), return_dtype=int, func_type="arrow")
    return f["sales"].select("id", t=thrice(pf.col("id")))


# -- files ------------------------------------------------------------------------------------------------------------

JSON_COLUMNS = "id BIGINT, item STRING, n BIGINT, `at` TIMESTAMP(3), tags ARRAY<STRING>"


def _json_file():
    directory = Path(tempfile.mkdtemp())
    lines = [
        {"id": 1, "item": "pear", "n": None, "at": "2026-05-17 10:00:01.123", "tags": ["a", "b"]},
        {"id": 2, "item": "fïg", "at": "1969-12-31 23:59:59", "tags": []},
    ]
    (directory / "given.json").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(directory)


def of_json(t_env):
    """Read JSON, write it, and read it again."""
    given, made = _json_file(), tempfile.mkdtemp()
    for name, path in (("given", given), ("made", made)):
        t_env.execute_sql(
            f"CREATE TEMPORARY TABLE {name} ({JSON_COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
            "'format' = 'json')"
        )
    t_env.execute_sql("INSERT INTO made SELECT * FROM given WHERE id > 0").wait()
    return t_env.sql_query("SELECT * FROM made")


@program(of_json)
def json_files(pf, f):
    kind, made = pf.DataType, tempfile.mkdtemp()
    schema = {
        "id": kind.int64(),
        "item": kind.string(),
        "n": kind.int64(),
        "at": kind.timestamp(3),
        "tags": kind.list(kind.string()),
    }
    pf.read_json(_json_file(), schema=schema).filter("id > 0").write_json(made)
    return pf.read_json(made, schema=schema)


# -- streams ----------------------------------------------------------------------------------------------------------


def versions(t_env):
    """Declare prices with versions, and sales with event time, of files."""
    columns = "item STRING, `at` TIMESTAMP(3), x DOUBLE"
    declare_timed(t_env, "prices", columns, [{"item": item, "at": str(at), "x": x} for item, at, x in PRICES])
    orders = [{"item": item, "at": str(at), "x": key} for key, item, _, at in SALES]
    declare_timed(t_env, "orders", columns, orders)
    t_env.create_temporary_view(
        "versions",
        t_env.sql_query(
            "SELECT item, `at`, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY `at` DESC) AS r "
            "FROM prices) WHERE r = 1"
        ),
    )
    return t_env.sql_query(
        "SELECT o.item, o.x, v.x AS price FROM orders AS o LEFT JOIN versions FOR SYSTEM_TIME AS OF o.`at` AS v "
        "ON o.item = v.item"
    )


@program(versions, mode="streaming")
def join_asof(pf, f):
    marked = ("at", "`at`")
    orders = [(item, at, float(key)) for key, item, _, at in SALES]
    left = pf.from_records(orders, schema=["item", "at", "x"], watermark=marked)
    right = pf.from_records(PRICES, schema=["item", "since", "price"], watermark=("since", "since"))
    right = right.top_n(1, partition_by="item", order_by="since", descending=True)
    return left.join_asof(right, by="item", on="at", how="left").select("item", "x", "price")


@program("SELECT item, COUNT(*) AS k FROM sales GROUP BY item", mode="streaming")
def changes_of_groups(pf, f):
    return f["sales"].group_by("item").agg(k=pf.col("id").count)
