"""The same programs with DataFrames, and with the Table API as PyFlink 2.3 has it.

``PATH=PYFLINK/bin:$PATH PYTHONPATH=. PYFLINK/bin/python -m tests.dataframe.record_equal_programs`` runs the second form
of each on PyFlink and writes ``equal_programs.json``. :mod:`tests.dataframe.equal_programs_more` has further ones.
"""

from __future__ import annotations

import json
import tempfile
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = Path(__file__).with_name("equal_programs.json")
SALES = [
    (1, "pear", 10, datetime(2026, 5, 17, 10, 0, 1)),
    (2, "pear", None, datetime(2026, 5, 17, 10, 0, 4)),
    (3, "fig", 7, datetime(2026, 5, 17, 10, 0, 12)),
    (4, None, 7, datetime(2026, 5, 17, 10, 0, 31)),
    (5, "fig", -2, datetime(2026, 5, 17, 10, 1, 2)),
]
ITEMS = [("pear", 1.5), ("fig", 0.25), ("kiwi", 3.0)]
TAGS = [(1, ["a", "b"]), (2, []), (3, None)]
PROGRAMS: dict[str, tuple[Callable[..., Any], Any, str]] = {}
"""By name: the program with DataFrames, and with the Table API, and in which mode they run."""


def program(table, mode="batch"):
    """Add a program with DataFrames, whose other form is a statement of SQL or a function of the environment."""

    def add(function):
        PROGRAMS[function.__name__] = function, table, mode
        return function

    return add


def frames(pf):
    """Return the tables of all programs as DataFrames."""
    timed = pf.from_records(SALES, schema=["id", "item", "n", "at"], watermark=("at", "`at`"))
    plain = pf.from_records([row[:3] for row in SALES], schema=["id", "item", "n"])
    return {
        "sales": plain,
        "timed": timed,
        "items": pf.from_records(ITEMS, schema=["name", "price"]),
        "tags": pf.from_records(TAGS, schema=["id", "tags"]),
    }


def declare_timed(t_env, name, columns, rows):
    """Declare a table of rows with event time ``at``."""
    directory = Path(tempfile.mkdtemp())
    (directory / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    t_env.execute_sql(
        f"CREATE TEMPORARY TABLE {name} ({columns}, WATERMARK FOR `at` AS `at`) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory}', 'format' = 'json')"
    )


def tables(t_env, mode):
    """Declare them for the Table API."""
    api = import_module("pyflink.table")
    types = api.DataTypes
    whole = [types.FIELD("id", types.BIGINT()), types.FIELD("item", types.STRING()), types.FIELD("n", types.BIGINT())]
    t_env.create_temporary_view("sales", t_env.from_elements([row[:3] for row in SALES], types.ROW(whole)))
    stamped = types.ROW([*whole, types.FIELD("at", types.TIMESTAMP(3))])
    if mode == "batch":
        t_env.create_temporary_view("timed", t_env.from_elements(SALES, stamped))
    else:
        rows = [{"id": key, "item": item, "n": n, "at": str(at)} for key, item, n, at in SALES]
        declare_timed(t_env, "timed", "id BIGINT, item STRING, n BIGINT, `at` TIMESTAMP(3)", rows)
    items = types.ROW([types.FIELD("name", types.STRING()), types.FIELD("price", types.DOUBLE())])
    t_env.create_temporary_view("items", t_env.from_elements(ITEMS, items))
    tags = types.ROW([types.FIELD("id", types.BIGINT()), types.FIELD("tags", types.ARRAY(types.STRING()))])
    t_env.create_temporary_view("tags", t_env.from_elements(TAGS, tags))


@program("SELECT item, id, n * 2 AS doubled FROM sales")
def select(pf, f):
    return f["sales"].select(["item"], pf.col("id"), doubled=pf.col("n") * 2)


@program("SELECT * FROM sales WHERE n > 5 AND item = 'fig'")
def filter_with_constraint(pf, f):
    return f["sales"].filter(pf.col("n") > 5, item="fig")


@program("SELECT * FROM sales WHERE item IS NULL")
def filter_for_null(pf, f):
    return f["sales"].where(item=None)


@program("SELECT id, UPPER(item) AS item, n, n + id AS total FROM sales")
def with_columns(pf, f):
    return f["sales"].with_columns(pf.col("item").upper_case.alias("item"), total=pf.col("n") + pf.col("id"))


@program("SELECT id AS number, item AS name FROM sales")
def drop_and_rename(pf, f):
    return f["sales"].drop("n").rename({"id": "number", "item": "name"})


@program("SELECT id, item, n, price FROM sales JOIN items ON item = name")
def inner_join(pf, f):
    return f["sales"].join(f["items"], left_on="item", right_on="name").drop("name")


@program("SELECT id, item, n, name, price FROM sales LEFT JOIN items ON item = name")
def left_join(pf, f):
    return f["sales"].join(f["items"], left_on="item", right_on="name", how="left")


@program("SELECT id, item, n, name, price FROM sales RIGHT JOIN items ON item = name")
def right_join(pf, f):
    return f["sales"].join(f["items"], left_on="item", right_on="name", how="right")


@program("SELECT id, item, n, name, price FROM sales FULL JOIN items ON item = name")
def full_join(pf, f):
    return f["sales"].join(f["items"], left_on="item", right_on="name", how="outer")


@program(
    "SELECT COALESCE(a.id, b.id) AS id, a.n, b.m FROM sales a FULL JOIN (SELECT id + 3 AS id, n AS m FROM sales) b "
    "ON a.id = b.id"
)
def full_join_of_a_shared_key(pf, f):
    other = f["sales"].select((pf.col("id") + 3).alias("id"), pf.col("n").alias("m"))
    return f["sales"].drop("item").join(other, on="id", how="full")


@program("SELECT * FROM sales WHERE EXISTS (SELECT * FROM items WHERE name = item)")
def semi_join(pf, f):
    return f["sales"].join(f["items"], left_on="item", right_on="name", how="semi")


@program("SELECT * FROM sales WHERE NOT EXISTS (SELECT * FROM items WHERE name = item)")
def anti_join(pf, f):
    return f["sales"].join(f["items"], left_on="item", right_on="name", how="anti")


@program("SELECT id, name FROM sales, items")
def cross_join(pf, f):
    return f["sales"].join(f["items"], how="cross").select("id", "name")


@program("SELECT item FROM sales UNION SELECT name FROM items")
def union(pf, f):
    return f["sales"].select("item").union(f["items"].select("name"))


@program("SELECT item FROM sales UNION ALL SELECT name FROM items")
def union_all(pf, f):
    return f["sales"].select("item").union_all(f["items"].select("name"))


@program("SELECT item FROM sales INTERSECT SELECT name FROM items")
def intersect(pf, f):
    return f["sales"].select("item").intersect(f["items"].select("name"))


@program("SELECT item FROM sales EXCEPT ALL SELECT name FROM items")
def minus_all(pf, f):
    return f["sales"].select("item").minus_all(f["items"].select("name"))


@program("SELECT DISTINCT n FROM sales")
def distinct(pf, f):
    return f["sales"].select("n").distinct()


@program(
    "SELECT id, item, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY n DESC) AS r FROM sales) "
    "WHERE r = 1"
)
def top_of_each(pf, f):
    return f["sales"].top_n(1, partition_by="item", order_by="n", descending=True)


def sorted_and_limited(t_env):
    """Sort rows; the Table API and SQL put NULL on different sides."""
    col = import_module("pyflink.table.expressions").col
    return t_env.from_path("sales").order_by(col("n").desc, col("id").asc).fetch(3)


@program(sorted_and_limited)
def sort_and_limit(pf, f):
    return f["sales"].sort(["n", "id"], descending=[True, False]).limit(3)


@program(
    "SELECT item, SUM(n) AS total, COUNT(n) AS counted, MIN(n) AS least, MAX(n) AS most, AVG(n) AS mean FROM sales "
    "GROUP BY item"
)
def groups(pf, f):
    n = pf.col("n")
    return f["sales"].group_by("item").agg(n.sum.alias("total"), counted=n.count, least=n.min, most=n.max, mean=n.avg)


@program("SELECT SUM(n) AS total, COUNT(*) AS number FROM sales")
def whole_table(pf, f):
    return f["sales"].agg(total=pf.col("n").sum, number=pf.col("id").count)


@program("SELECT id, tag FROM tags LEFT JOIN UNNEST(tags) AS t(tag) ON TRUE")
def explode(pf, f):
    return f["tags"].explode("tags", output_column="tag")


@program("SELECT id, tag FROM tags CROSS JOIN UNNEST(tags) AS t(tag)")
def explode_without_empty_ones(pf, f):
    return f["tags"].explode("tags", output_column="tag", ignore_empty_and_null=True)


@program("SELECT * FROM sales WHERE item IS NOT NULL AND n IS NOT NULL")
def drop_null(pf, f):
    return f["sales"].drop_null()


@program("SELECT id, item, COALESCE(n, 0) AS n FROM sales")
def fill_null(pf, f):
    return f["sales"].fill_null(0, subset=["n"])


@program(
    "SELECT id, SUM(n) OVER (PARTITION BY item ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM sales"
)
def over(pf, f):
    return f["sales"].select("id", s=pf.col("n").sum.over(order_by="id", partition_by="item", rows=1))


@program("SELECT CAST(id AS STRING) || COALESCE(item, '-') AS both_of_them FROM sales")
def sql_of_frames(pf, f):
    return pf.sql("SELECT CAST(id AS STRING) || COALESCE(item, '-') AS both_of_them FROM s", s=f["sales"])


def windows(call):
    """Return a query of windows."""
    query = (
        "SELECT item, window_start, window_end, SUM(n) AS total FROM TABLE({}) GROUP BY item, window_start, window_end"
    )
    return query.format(call)


def totals(pf, windowed):
    """Return the same of windows of a DataFrame."""
    return windowed.group_by("item", "window_start", "window_end").agg(total=pf.col("n").sum)


@program(windows("TUMBLE(TABLE timed, DESCRIPTOR(`at`), INTERVAL '10' SECOND)"))
def tumble(pf, f):
    return totals(pf, f["timed"].tumble(on="at", size=timedelta(seconds=10)))


@program(windows("HOP(TABLE timed, DESCRIPTOR(`at`), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"))
def hop(pf, f):
    return totals(pf, f["timed"].hop(on="at", slide=timedelta(seconds=5), size=timedelta(seconds=10)))


@program(windows("CUMULATE(TABLE timed, DESCRIPTOR(`at`), INTERVAL '10' SECOND, INTERVAL '1' MINUTE)"))
def cumulate(pf, f):
    return totals(pf, f["timed"].cumulate(on="at", step=timedelta(seconds=10), size=timedelta(minutes=1)))


def next_of(t_env):
    """Call a function of values."""
    api = import_module("pyflink.table")
    function = import_module("pyflink.table.udf").udf(lambda n: n + 1, result_type=api.DataTypes.BIGINT())
    t_env.create_temporary_function("next_of", function)
    return t_env.sql_query("SELECT id, next_of(id) AS more FROM sales")


@program(next_of)
def function_of_values(pf, f):
    more = pf.udf(lambda n: n + 1, return_dtype=int)
    return f["sales"].select("id", more=more(pf.col("id")))


def scaled(t_env):
    """Call a pandas function of batches."""
    api = import_module("pyflink.table")
    made = import_module("pyflink.table.udf").udf(
        lambda ids, numbers: ids * 10 + numbers, result_type=api.DataTypes.DOUBLE(), func_type="pandas"
    )
    t_env.create_temporary_function("scaled", made)
    return t_env.sql_query("SELECT id, scaled(id, n) AS s FROM sales")


@program(scaled)
def batches(pf, f):
    return f["sales"].map_batches(
        lambda batch: {"id": batch["id"], "s": batch["id"] * 10 + batch["n"]},
        return_dtype="ROW<id BIGINT, s DOUBLE>",
        batch_format="pandas",
    )


def letters(t_env):
    """Call a table function."""
    api = import_module("pyflink.table")
    made = import_module("pyflink.table.udf").udtf(lambda text: list(text or ""), result_types=api.DataTypes.STRING())
    t_env.create_temporary_function("letters", made)
    return t_env.sql_query("SELECT id, letter FROM sales LEFT JOIN LATERAL TABLE(letters(item)) AS t(letter) ON TRUE")


@program(letters)
def lateral(pf, f):
    split = pf.udtf(lambda text: list(text or ""), return_dtype=str)
    joined = f["sales"].join_lateral(split(pf.col("item")).alias("letter"), how="left")
    return joined.select("id", "letter")


def shown(rows):
    """Return rows in an order that does not depend on the engine."""
    return sorted(json.dumps([repr(value) for value in row]) for row in rows)


def rows_of(table, mode):
    """Run a job, and return its rows; those of a stream with the kinds of their changes."""
    with table.execute().collect() as rows:
        return shown(rows if mode == "batch" else [(*row, str(row.get_row_kind())) for row in rows])
