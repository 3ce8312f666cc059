# mypy: disable-error-code="import-not-found,import-untyped"
"""Where functions of a row stand in statements and methods."""

from pyflink.common import Row
from pyflink.table import DataTypes
from pyflink.table.expressions import call, col, lit
from pyflink.table.udf import udf, udtf
from tests.table.conformance.registry import BOTH, program
from tests.table.conformance.shapes import PROCESS, queries

INT, STRING = DataTypes.INT(), DataTypes.STRING()
ROW_TYPE = DataTypes.ROW([DataTypes.FIELD("x", INT), DataTypes.FIELD("y", STRING)])


def tables(t_env):
    kinds = DataTypes.ROW([DataTypes.FIELD("id", INT), DataTypes.FIELD("k", STRING), DataTypes.FIELD("v", INT)])
    rows = [(1, "a", 3), (2, "a", 4), (3, "b", 5), (4, None, None), (5, "b", 5)]
    t_env.create_temporary_view("t", t_env.from_elements(rows, kinds))
    t_env.create_temporary_view("u", t_env.from_elements([(2, "x", 10), (4, "y", 20), (7, "z", 30)], kinds))
    return t_env.from_path("t")


@udf(result_type=INT)
def p(x):
    return None if x is None else x + 1


@udf(result_type=STRING)
def up(x):
    return None if x is None else x.upper()


@udf(result_type=DataTypes.BOOLEAN())
def odd(x):
    return None if x is None else x % 2 == 1


@udf(result_type=DataTypes.ARRAY(INT))
def pair(x):
    return None if x is None else [x, -x]


@udf(result_type=ROW_TYPE)
def both(x):
    return Row(x, str(x))


PLACES = {
    "SELECT": "SELECT p(v), up(k), p(p(id)) FROM t",
    "SELECT with star": "SELECT *, p(v) AS w FROM t",
    "WHERE": "SELECT id FROM t WHERE p(v) > 4",
    "WHERE of a condition": "SELECT id FROM t WHERE odd(v)",
    "WHERE NOT": "SELECT id FROM t WHERE NOT odd(v)",
    "WHERE with OR": "SELECT id FROM t WHERE odd(v) OR id = 2",
    "CASE": "SELECT CASE WHEN odd(v) THEN p(v) ELSE p(id) END FROM t",
    "COALESCE": "SELECT COALESCE(p(v), p(0), 1) FROM t",
    "CAST": "SELECT CAST(p(v) AS STRING) || up('x') FROM t",
    "IN a list": "SELECT id FROM t WHERE p(v) IN (4, 6)",
    "IN a query": "SELECT id FROM t WHERE p(id) IN (SELECT p(id) FROM u)",
    "EXISTS": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = p(t.id))",
    "BETWEEN": "SELECT id FROM t WHERE p(v) BETWEEN 5 AND p(9)",
    "GROUP BY": "SELECT up(k), COUNT(*) FROM t GROUP BY up(k)",
    "in an aggregate": "SELECT k, SUM(p(v)), MAX(up(k)) FROM t GROUP BY k",
    "over an aggregate": "SELECT k, p(CAST(SUM(v) AS INT)) FROM t GROUP BY k",
    "HAVING": "SELECT k FROM t GROUP BY k HAVING odd(SUM(v))",
    "FILTER": "SELECT COUNT(*) FILTER (WHERE odd(v)) FROM t",
    "DISTINCT": "SELECT DISTINCT up(k) FROM t",
    "COUNT DISTINCT": "SELECT COUNT(DISTINCT up(k)) FROM t",
    "JOIN on a key": "SELECT t.id, u.v FROM t JOIN u ON p(t.id) = u.id",
    "JOIN on both keys": "SELECT t.id, u.v FROM t JOIN u ON p(t.id) = p(u.id)",
    "JOIN with a condition": "SELECT t.id, u.v FROM t JOIN u ON t.id = u.id AND p(t.v) < u.v",
    "LEFT JOIN": "SELECT t.id, u.v FROM t LEFT JOIN u ON p(t.id) = u.id",
    "LEFT JOIN with a condition": "SELECT t.id, u.v FROM t LEFT JOIN u ON t.id = u.id AND odd(t.v)",
    "FULL JOIN": "SELECT t.id, u.id FROM t FULL JOIN u ON p(t.id) = u.id",
    "CROSS JOIN": "SELECT p(t.id), up(u.k) FROM t, u WHERE p(t.id) = 2",
    "UNION ALL": "SELECT p(id) FROM t UNION ALL SELECT p(id) FROM u",
    "UNION": "SELECT p(v) FROM t UNION SELECT v FROM u",
    "UNNEST": "SELECT id, x FROM t CROSS JOIN UNNEST(pair(v)) AS n (x)",
    "a field": "SELECT both(v).y FROM t",
    "an element": "SELECT pair(v)[2] FROM t",
    "VALUES": "SELECT p(x) FROM (VALUES (1), (2)) AS q (x)",
    "no table": "SELECT p(1), up('a')",
    "WITH": "WITH q AS (SELECT p(v) AS x FROM t) SELECT p(x) FROM q",
    "a query in FROM": "SELECT x FROM (SELECT p(v) AS x, id FROM t) WHERE x > 4 AND p(id) < 4",
    "ROW_NUMBER": "SELECT id, r FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY up(k) ORDER BY p(v), id) AS r FROM t) WHERE r = 1",
    "ORDER BY and LIMIT": "SELECT id FROM t ORDER BY p(v) DESC, id LIMIT 2",
    "pandas in SELECT": "SELECT id, q(id), p(q(id)), q(p(id)) FROM t",
    "pandas in WHERE": "SELECT id FROM t WHERE q(id) > 12",
    "pandas in a join": "SELECT t.id, u.id FROM t JOIN u ON q(t.id) = q(u.id)",
    "pandas in an aggregate": "SELECT SUM(q(id)) FROM t",
    "pandas as a key": "SELECT q(id), COUNT(*) FROM t GROUP BY q(id)",
    "by a full name": "SELECT default_catalog.default_database.in_catalog(id) FROM t",
    "by a name in a catalog": "SELECT in_catalog(id) FROM t",
    "by a name in capitals": "SELECT P(id), Up(k) FROM t",
    "by an unknown name": "SELECT nope(id) FROM t",
}  # fmt: skip


def register(t_env):
    for name, function in {"p": p, "up": up, "odd": odd, "pair": pair, "both": both}.items():
        t_env.create_temporary_system_function(name, function)
    t_env.create_temporary_system_function("q", udf(lambda s: s + 10, result_type=INT, func_type="pandas"))
    t_env.create_temporary_function("in_catalog", p)


@program(3, config=PROCESS, modes=BOTH)
def shapes_of_places_in_sql(env, t_env):
    tables(t_env)
    register(t_env)
    return queries(t_env, PLACES)


def numbers_below(x):
    return range(x)


def whole(row):
    return Row(row[0], row[1], (row[2] or 0) * 2)


@program(3, config=PROCESS, modes=BOTH)
def shapes_of_places_in_methods(env, t_env):
    t = tables(t_env)
    register(t_env)
    u = t_env.from_path("u").select(col("id").alias("i"), col("k").alias("j"), col("v").alias("w"))
    kinds = DataTypes.ROW([DataTypes.FIELD("a", INT), DataTypes.FIELD("b", STRING), DataTypes.FIELD("c", INT)])
    frames = udf(
        lambda f: f[["id", "k", "id"]].set_axis(["a", "b", "c"], axis=1), result_type=kinds, func_type="pandas"
    )
    return queries(
        t_env,
        {
            "select": lambda: t.select(p(col("v")), up(col("k"))),
            "select by name": lambda: t.select(call("p", col("v"))),
            "select by function": lambda: t.select(call(p, col("v"))),
            "add_columns": lambda: t.add_columns(p(col("v")).alias("n")),
            "add_or_replace_columns": lambda: t.add_or_replace_columns(p(col("v")).alias("v")),
            "filter": lambda: t.filter(odd(col("v"))),
            "where": lambda: t.where(p(col("v")) > 4),
            "group_by": lambda: t.group_by(up(col("k")).alias("z")).select(col("z"), col("v").sum),
            "an aggregate": lambda: t.group_by(col("k")).select(col("k"), p(col("v")).sum),
            "join": lambda: t.join(u, p(col("id")) == col("i")).select(col("id"), col("w")),
            "left_outer_join": lambda: t.left_outer_join(u, p(col("id")) == col("i")).select(col("id"), col("w")),
            "distinct": lambda: t.select(up(col("k"))).distinct(),
            "union_all": lambda: t.select(p(col("v"))).union_all(u.select(p(col("w")))),
            "map": lambda: t.map(udf(whole, result_type=kinds)),
            "map with columns": lambda: t.map(udf(lambda a, b: Row(b, a, 1), result_type=kinds)(col("k"), col("id"))),
            "map of frames": lambda: t.where(col("id") < 3).map(frames),
            "map with an alias": lambda: t.map(udf(whole, result_type=kinds)).alias("d", "e", "f").select(col("f")),
            "flat_map": lambda: t.flat_map(udtf(lambda r: [(r[0], r[1])] * 2, result_types=[INT, STRING])),
            "flat_map with columns": lambda: t.flat_map(udtf(numbers_below, result_types=INT)(col("id"))),
            "within if_then_else": lambda: t.select(odd(col("id")).then(p(col("id")), lit(0))),
            "in_": lambda: t.where(p(col("id")).in_(2, 3)).select(col("id")),
            "cast": lambda: t.select(p(col("id")).cast(STRING)),
            "get": lambda: t.select(both(col("id")).get("y")),
            "flatten": lambda: t.select(both(col("id")).flatten),
            "order_by and fetch": lambda: t.order_by(p(col("v")).desc, col("id")).fetch(2),
        },
    )
