"""Documents (VARIANT), bitmaps, objects with a class, and digits of intervals."""

from __future__ import annotations

from tests.table.conformance.registry import BOTH, program, scalars, script, table

scalars(
    "digits_of_intervals",
    """
    CAST(INTERVAL '99' HOUR AS STRING)
    CAST(INTERVAL '100' HOUR AS STRING)
    CAST(INTERVAL '100' HOUR(3) AS STRING)
    CAST(INTERVAL '1000' HOUR(4) AS STRING)
    CAST(INTERVAL '100' DAY AS STRING)
    CAST(INTERVAL '-100' DAY(3) AS STRING)
    CAST(INTERVAL -'100' DAY(3) AS STRING)
    CAST(INTERVAL '100' SECOND AS STRING)
    CAST(INTERVAL '1.1234' SECOND(2, 3) AS STRING)
    CAST(INTERVAL '1.123456' SECOND AS STRING)
    CAST(INTERVAL '1.1234567' SECOND AS STRING)
    CAST(INTERVAL '1' SECOND(2, 10) AS STRING)
    CAST(INTERVAL '100:10' HOUR TO MINUTE AS STRING)
    CAST(INTERVAL '100:10' HOUR(3) TO MINUTE AS STRING)
    CAST(INTERVAL '100 10' DAY(3) TO HOUR AS STRING)
    CAST(INTERVAL '1:2.5' MINUTE(3) TO SECOND(1) AS STRING)
    CAST(INTERVAL '10:70' MINUTE TO SECOND AS STRING)
    CAST(INTERVAL '1 24:00:00' DAY TO SECOND AS STRING)
    CAST(INTERVAL '100-10' YEAR TO MONTH AS STRING)
    CAST(INTERVAL '100-10' YEAR(3) TO MONTH AS STRING)
    CAST(INTERVAL '1-13' YEAR TO MONTH AS STRING)
    CAST(INTERVAL '123' MONTH AS STRING)
    CAST(INTERVAL '123' MONTH(3) AS STRING)
    CAST(INTERVAL '1' YEAR(5) AS STRING)
    CAST(INTERVAL '1' DAY(0) AS STRING)
    CAST(INTERVAL '1' DAY(4) AS STRING)
    CAST(INTERVAL '1' DAY(11) AS STRING)
    CAST(INTERVAL 'x' HOUR AS STRING)
    CAST(INTERVAL '1' WEEK AS STRING)
    CAST(INTERVAL '100' WEEK AS STRING)
    CAST(INTERVAL '1' QUARTER AS STRING)
    TIMESTAMP '2020-01-01 00:00:00' + INTERVAL '100' HOUR
    TIMESTAMP '2020-01-01 00:00:00' + INTERVAL '100' HOUR(3)
    """,
)
scalars(
    "casts_to_intervals",
    """
    CAST(CAST(5 AS INTERVAL DAY) AS STRING)
    CAST(CAST(5 AS INTERVAL HOUR) AS STRING)
    CAST(CAST(-5 AS INTERVAL MINUTE) AS STRING)
    CAST(CAST(5 AS INTERVAL SECOND) AS STRING)
    CAST(CAST(5 AS INTERVAL YEAR) AS STRING)
    CAST(CAST(5 AS INTERVAL MONTH) AS STRING)
    CAST(CAST(n AS INTERVAL DAY) AS STRING)
    CAST(CAST(n AS INTERVAL HOUR) AS STRING)
    CAST(CAST(n AS INTERVAL MONTH) AS STRING)
    CAST(CAST(n AS INTERVAL YEAR) AS STRING)
    CAST(CAST(l AS INTERVAL DAY(3)) AS STRING)
    CAST(TRY_CAST(n AS INTERVAL DAY) AS STRING)
    CAST(CAST(n AS INTERVAL DAY TO SECOND) AS STRING)
    CAST(CAST(n AS INTERVAL YEAR TO MONTH) AS STRING)
    CAST(CAST(CAST(n AS DOUBLE) AS INTERVAL DAY) AS STRING)
    CAST(CAST(CAST(n AS DECIMAL(5, 1)) AS INTERVAL DAY) AS STRING)
    CAST(CAST(CAST(n AS STRING) AS INTERVAL DAY) AS STRING)
    CAST(CAST(INTERVAL '5' DAY AS INTERVAL HOUR) AS STRING)
    CAST(CAST(INTERVAL '5' MONTH AS INTERVAL HOUR) AS STRING)
    CAST(INTERVAL '5' HOUR AS BIGINT)
    CAST(INTERVAL '5' MONTH AS INT)
    TIMESTAMP '2020-01-01 00:00:00' + CAST(n AS INTERVAL HOUR)
    TYPEOF(CAST(5 AS INTERVAL YEAR))
    TYPEOF(CAST(5 AS INTERVAL HOUR))
    """,
    table("n INT; l BIGINT", ("5", "86400000"), ("-14", "-1"), ("NULL", "NULL")),
)

_DOCUMENTS = (
    '{"z":1,"a":-1,"m":12345678901234567890123,"f":1.10,"g":100.00,"h":1e2,"i":1E-7,"j":0.1e1,"l":0.00000001}',
    "123456789012345678901234567890123456789", "9223372036854775807", "9223372036854775808", "-0", "-0.0", "1.0", "1e400",
    "1.7976931348623157e308", "12345678901234567890.123456789012345678901234567890", "null", "true", '"text"', "[]", "{}",
    '"a\\"b\\\\\\u00e9\\n\\u0001/\\u001f\\ud83d\\ude00"', '{"b":{"z":1,"y":[]},"a":{}, "B":2, "é":1, "":5}',
    '{"a":1,"a":2}', "[1, [2, [3]], null]", '{"a":{"b":[10,20]}}', "", " 1 ", "1 2", "1x", '"a"x', "[1]x", "truex", "1,",
    "[1,]", "{a:1}", "NaN", "01", ".5", "5.", "+5", "-", "nul", "TRUE", "'a'", "[1", '{"a"}', '"\\x"',
)  # fmt: skip

scalars(
    "documents_of_json",
    """
    JSON_STRING(TRY_PARSE_JSON(s))
    JSON_STRING(TRY_PARSE_JSON(s, TRUE))
    JSON_STRING(TRY_PARSE_JSON(s, FALSE))
    TRY_PARSE_JSON(s) IS NULL
    TRY_PARSE_JSON(s) = PARSE_JSON('1')
    JSON_VALUE(TRY_PARSE_JSON(s), '$.a')
    JSON_OBJECT('k' VALUE TRY_PARSE_JSON(s))
    CAST(ROW(TRY_PARSE_JSON(s)) AS STRING)
    JSON_STRING(PARSE_JSON(s))
    TYPEOF(TRY_PARSE_JSON('1'))
    TRY_PARSE_JSON(s)
    CAST(TRY_PARSE_JSON(s) AS STRING)
    """,
    table("s STRING", *((f"'{text}'".replace("''", "''") if "'" not in text else "'''a'''",) for text in _DOCUMENTS), ("NULL",)),
)  # fmt: skip
scalars(
    "parts_of_documents",
    """
    JSON_STRING(PARSE_JSON('{"a":1}')['a'])
    JSON_STRING(PARSE_JSON('{"a":1}')['b'])
    JSON_STRING(PARSE_JSON('{"a":{"b":[10,20]}}')['a']['b'][2])
    JSON_STRING(PARSE_JSON('[1,2]')[n])
    JSON_STRING(PARSE_JSON('[1,2]')[CAST(n AS BIGINT)])
    JSON_STRING(PARSE_JSON('[1,2]')[-1])
    JSON_STRING(PARSE_JSON('[1,2]')[1.5])
    JSON_STRING(PARSE_JSON('[1]')['a'])
    JSON_STRING(PARSE_JSON('{"a":1}')[1])
    JSON_STRING(PARSE_JSON('1')['a'])
    JSON_STRING(PARSE_JSON('null')['a'])
    JSON_STRING(TRY_PARSE_JSON('x')['a'])
    JSON_STRING(PARSE_JSON('{"a":1}').a)
    PARSE_JSON('null') IS NULL
    PARSE_JSON('{"a":null}')['a'] IS NULL
    PARSE_JSON('{"a":null}')['b'] IS NULL
    PARSE_JSON('1') = PARSE_JSON('1.0')
    PARSE_JSON('1.0') = PARSE_JSON('1.00')
    PARSE_JSON('1') = PARSE_JSON(' 1')
    PARSE_JSON('1e0') = PARSE_JSON('1.0e0')
    PARSE_JSON('{"a":1,"b":2}') = PARSE_JSON('{"b":2,"a":1}')
    PARSE_JSON('[1]') <> PARSE_JSON('[2]')
    PARSE_JSON('1') IN (PARSE_JSON('1'), PARSE_JSON('2'))
    PARSE_JSON('1') < PARSE_JSON('2')
    PARSE_JSON('1') = 1
    PARSE_JSON('1') + 1
    PARSE_JSON('1') || 'x'
    CAST(1 AS VARIANT)
    JSON_STRING(CAST(PARSE_JSON('1') AS VARIANT))
    JSON_STRING(CAST(NULL AS VARIANT))
    CAST(PARSE_JSON('1') AS INT)
    TRY_CAST(PARSE_JSON('1') AS INT)
    JSON_STRING(COALESCE(TRY_PARSE_JSON('x'), PARSE_JSON('2')))
    JSON_STRING(CASE WHEN n = 1 THEN PARSE_JSON('1') END)
    JSON_STRING(NULLIF(PARSE_JSON('1'), PARSE_JSON('1')))
    JSON_STRING(PARSE_JSON('{"a":1,"a":2}'))
    JSON_STRING(PARSE_JSON('{"a":1,"a":2}', TRUE))
    JSON_STRING(PARSE_JSON('1', CAST(NULL AS BOOLEAN)))
    JSON_STRING(PARSE_JSON(5))
    JSON_STRING(PARSE_JSON('1', 2))
    CARDINALITY(PARSE_JSON('[1,2]'))
    """,
    table("n INT", ("1",), ("2",), ("3",), ("0",), ("NULL",)),
)
script("printed_documents", """
CREATE VIEW d AS SELECT id, PARSE_JSON(s) AS v FROM (VALUES (1, '{"b": 1.50, "a": [1e2, null]}'), (2, '7'), (3, '7')) AS t (id, s);
SELECT * FROM d;
SELECT v, COUNT(*) AS n FROM d GROUP BY v;
SELECT DISTINCT v FROM d;
SELECT COUNT(DISTINCT v) AS n FROM d;
SELECT ARRAY_AGG(v) AS a, FIRST_VALUE(v) AS f, LAST_VALUE(v) AS l FROM d;
SELECT MIN(v) FROM d;
SELECT a.id, b.id, a.v FROM d AS a JOIN d AS b ON a.v = b.v AND a.id < b.id;
SELECT ARRAY[v] AS a, MAP['k', v] AS m, ROW(id, v) AS r FROM d WHERE id = 1;
CREATE TABLE t (v VARIANT, n INT) WITH ('connector' = 'blackhole');
DESCRIBE t;
INSERT INTO t SELECT v, id FROM d;
SELECT v FROM d ORDER BY v LIMIT 2;
CREATE TABLE f (v VARIANT) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'json');
INSERT INTO f SELECT v FROM d;
""", printed=True, order="folded")  # fmt: skip
script("documents_are_not_collected", """
SELECT PARSE_JSON('1') AS v;
SELECT ARRAY[PARSE_JSON('1')] AS v;
SELECT BITMAP_BUILD(ARRAY[1]) AS b;
SELECT OBJECT_OF('a.B', 'x', 1) AS o;
SELECT OBJECT_OF('a.B', 'x', 1).x AS x;
""", modes=BOTH)  # fmt: skip
scalars(
    "bitmaps",
    """
    BITMAP_TO_STRING(BITMAP_BUILD(a))
    BITMAP_CARDINALITY(BITMAP_BUILD(a))
    BITMAP_TO_ARRAY(BITMAP_BUILD(a))
    BITMAP_TO_BYTES(BITMAP_BUILD(a))
    BITMAP_TO_STRING(BITMAP_FROM_BYTES(BITMAP_TO_BYTES(BITMAP_BUILD(a))))
    BITMAP_TO_STRING(BITMAP_AND(BITMAP_BUILD(a), BITMAP_BUILD(b)))
    BITMAP_TO_STRING(BITMAP_OR(BITMAP_BUILD(a), BITMAP_BUILD(b)))
    BITMAP_TO_STRING(BITMAP_XOR(BITMAP_BUILD(a), BITMAP_BUILD(b)))
    BITMAP_TO_STRING(BITMAP_ANDNOT(BITMAP_BUILD(a), BITMAP_BUILD(b)))
    BITMAP_TO_BYTES(BITMAP_AND(BITMAP_BUILD(a), BITMAP_BUILD(b)))
    BITMAP_TO_BYTES(BITMAP_OR(BITMAP_BUILD(a), BITMAP_BUILD(b)))
    BITMAP_BUILD(a) = BITMAP_BUILD(b)
    BITMAP_BUILD(a) IS NULL
    CAST(BITMAP_BUILD(a) AS STRING)
    CAST(BITMAP_BUILD(a) AS BYTES)
    CAST(ROW(BITMAP_BUILD(a)) AS STRING)
    BITMAP_TO_STRING(BITMAP_BUILD(ARRAY['a']))
    BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[CAST(1 AS BIGINT)]))
    BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[CAST(1 AS SMALLINT)]))
    BITMAP_TO_STRING(BITMAP_AND(BITMAP_BUILD(a), CAST(NULL AS BITMAP)))
    BITMAP_TO_STRING(BITMAP_FROM_BYTES(x'0011'))
    BITMAP_TO_STRING(BITMAP_FROM_BYTES(x''))
    BITMAP_TO_STRING(BITMAP_FROM_BYTES(x'3a30000000000000'))
    BITMAP_TO_STRING(BITMAP_FROM_BYTES(x'3b3000000100001300010001001300'))
    BITMAP_TO_STRING(BITMAP_FROM_BYTES(x'3b300000010000130001000100'))
    BITMAP_TO_STRING(BITMAP_FROM_BYTES(CAST(NULL AS BYTES)))
    TYPEOF(BITMAP_BUILD(ARRAY[1]))
    TYPEOF(BITMAP_TO_ARRAY(BITMAP_BUILD(ARRAY[1])))
    TYPEOF(BITMAP_CARDINALITY(BITMAP_BUILD(ARRAY[1])))
    TYPEOF(BITMAP_TO_BYTES(BITMAP_BUILD(ARRAY[1])))
    TYPEOF(BITMAP_TO_STRING(BITMAP_BUILD(ARRAY[1])))
    """,
    table(
        "a ARRAY<INT>; b ARRAY<INT>",
        ("ARRAY[5, 1, 3, 1, -1]", "ARRAY[3, -1, 70000]"),
        ("ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]", "ARRAY[2, 4, 6, 8]"),
        ("ARRAY[2147483647, -2147483648, 0]", "ARRAY[0]"),
        ("ARRAY[1, 2, 3, 4, 65537, 65538, 65539, 65540, 131073, 200000, 300000, -5]", "ARRAY[65537, 65538, 65539, 65540]"),
        ("ARRAY[1, CAST(NULL AS INT), 2]", "ARRAY[CAST(NULL AS INT)]"),
        ("NULL", "ARRAY[1]"),
    ),
)  # fmt: skip
script("aggregates_of_bitmaps", """
CREATE VIEW n AS SELECT * FROM (VALUES ('a', 1), ('b', 3), ('a', 3), ('a', 3), ('b', -1), ('c', CAST(NULL AS INT))) AS t (k, x);
CREATE VIEW m AS SELECT k, BITMAP_BUILD(x) AS b FROM (VALUES ('a', ARRAY[1, 2]), ('a', ARRAY[2, 3]), ('b', ARRAY[7]), ('a', ARRAY[2, 9])) AS t (k, x);
SELECT k, BITMAP_TO_STRING(BITMAP_BUILD_AGG(x)) AS s, BITMAP_BUILD_CARDINALITY_AGG(x) AS c FROM n GROUP BY k;
SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(x)) AS s, BITMAP_BUILD_CARDINALITY_AGG(x) AS c FROM n;
SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(x)) AS s, BITMAP_BUILD_CARDINALITY_AGG(x) AS c FROM n WHERE k = 'c';
SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(x)) AS s, BITMAP_BUILD_CARDINALITY_AGG(x) AS c FROM n WHERE k = 'd';
SELECT k, BITMAP_TO_STRING(BITMAP_AND_AGG(b)) AS s, BITMAP_AND_CARDINALITY_AGG(b) AS c FROM m GROUP BY k;
SELECT k, BITMAP_TO_STRING(BITMAP_OR_AGG(b)) AS s, BITMAP_OR_CARDINALITY_AGG(b) AS c FROM m GROUP BY k;
SELECT k, BITMAP_TO_STRING(BITMAP_XOR_AGG(b)) AS s, BITMAP_XOR_CARDINALITY_AGG(b) AS c FROM m GROUP BY k;
SELECT BITMAP_TO_STRING(BITMAP_OR_AGG(b)) AS s, BITMAP_TO_STRING(BITMAP_AND_AGG(b)) AS t, BITMAP_TO_STRING(BITMAP_XOR_AGG(b)) AS u FROM (SELECT k, BITMAP_BUILD_AGG(x) AS b FROM n GROUP BY k);
SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(c)) AS s FROM (SELECT k, CAST(COUNT(*) AS INT) AS c FROM n GROUP BY k);
SELECT BITMAP_BUILD_AGG(k) FROM n;
SELECT BITMAP_OR_AGG(x) FROM n;
SELECT BITMAP_BUILD_AGG(CAST(x AS BIGINT)) FROM n;
SELECT k, BITMAP_TO_STRING(BITMAP_BUILD_AGG(DISTINCT x)) AS s, BITMAP_BUILD_CARDINALITY_AGG(x) FILTER (WHERE x > 1) AS c FROM n GROUP BY k;
SELECT TYPEOF(BITMAP_BUILD_AGG(x)) AS t, TYPEOF(BITMAP_BUILD_CARDINALITY_AGG(x)) AS u FROM n WHERE k = 'c';
""", level=3, order="folded")  # fmt: skip
scalars(
    "objects_with_a_class",
    """
    OBJECT_OF('a.B', 'x', v).x
    OBJECT_OF('a.B', 'x', v).x + 1
    OBJECT_OF('a.B', 'x', ROW(1, v)).x
    OBJECT_OF('a.B', 'o', OBJECT_OF('c.D', 'k', v)).o.k
    CAST(OBJECT_OF('a.B', 'x', v, 'y', 'q') AS STRING)
    CAST(OBJECT_OF('a.B', 'x', v, 'o', OBJECT_OF('c.D', 'k', 'z')) AS STRING)
    CAST(OBJECT_OF('a.B', 'x', v) AS ROW<x INT>)
    CAST(ARRAY[OBJECT_OF('a.B', 'x', v)] AS STRING)
    OBJECT_OF('a.B', 'x', v) = OBJECT_OF('a.B', 'x', 1)
    JSON_STRING(OBJECT_OF('a.B', 'y', v, 'x', 'q'))
    TYPEOF(OBJECT_OF('a.B', 'x', v, 'y', 'q'))
    TYPEOF(OBJECT_OF('a.B', 'x', 1, 'y', CAST(NULL AS STRING)))
    CAST(OBJECT_OF('a.B', 'x', v, 'x', 2) AS STRING)
    CAST(OBJECT_OF('a.B', 'x') AS STRING)
    CAST(OBJECT_OF('a.B') AS STRING)
    CAST(OBJECT_OF('', 'x', 1) AS STRING)
    CAST(OBJECT_OF(s, 'x', 1) AS STRING)
    CAST(OBJECT_OF('a.B', s, 1) AS STRING)
    CAST(OBJECT_UPDATE(OBJECT_OF('a.B', 'x', v, 'y', 2), 'x', 'txt') AS STRING)
    TYPEOF(OBJECT_UPDATE(OBJECT_OF('a.B', 'x', 1, 'y', 2), 'x', 'txt'))
    CAST(OBJECT_UPDATE(OBJECT_OF('a.B', 'x', v, 'y', 2), 'y', s, 'x', 7) AS STRING)
    CAST(OBJECT_UPDATE(OBJECT_OF('a.B', 'x', v, 'y', 2), 'z', 3) AS STRING)
    CAST(OBJECT_UPDATE(OBJECT_OF('a.B', 'x', v, 'y', 2), 'x', 5, 'x', 6) AS STRING)
    CAST(OBJECT_UPDATE(OBJECT_OF('a.B', 'x', v)) AS STRING)
    CAST(OBJECT_UPDATE(ROW(1, 2), 'x', 5) AS STRING)
    """,
    table("v INT; s STRING", ("1", "'p'"), ("NULL", "NULL")),
)
script("printed_objects", """
SELECT OBJECT_OF('a.B', 'x', v, 'y', 'q') AS o FROM (VALUES (1), (2)) AS t (v);
SELECT o, COUNT(*) AS n FROM (SELECT OBJECT_OF('a.B', 'x', v) AS o FROM (VALUES (1), (1)) AS t (v)) GROUP BY o;
CREATE TABLE ot (o STRUCTURED<'a.B', x INT, y STRING>, n INTERVAL DAY) WITH ('connector' = 'blackhole');
CREATE TABLE ot (o STRUCTURED<'a.B', x INT, y STRING>) WITH ('connector' = 'blackhole');
DESCRIBE ot;
INSERT INTO ot SELECT OBJECT_OF('a.B', 'x', 1, 'y', 'q');
INSERT INTO ot SELECT OBJECT_OF('a.C', 'x', 1, 'y', 'q');
INSERT INTO ot SELECT ROW(1, 'q');
INSERT INTO ot SELECT OBJECT_OF('a.B', 'x', 1);
CREATE TABLE r (o ROW<x INT, y STRING>) WITH ('connector' = 'blackhole');
INSERT INTO r SELECT OBJECT_OF('a.B', 'x', 1, 'y', 'q');
""", modes=BOTH, printed=True)  # fmt: skip


@program()
def bitmaps_of_the_table_api(env, t_env):
    from pyflink.table.expressions import array, col

    numbers = t_env.from_elements([("a", 1), ("a", 3), ("b", 3)], ["k", "n"])
    casted = numbers.select(col("k"), col("n").cast(_int()).alias("n"))
    built = casted.group_by(col("k")).select(
        col("k"), col("n").bitmap_build_agg().bitmap_to_string().alias("s"), col("n").bitmap_build_cardinality_agg()
    )
    a, b = array(1, 2, 3).bitmap_build(), array(2, 3, 4).bitmap_build()
    sets = numbers.limit(1).select(
        a.bitmap_and(b).bitmap_to_string(),
        a.bitmap_or(b).bitmap_to_string(),
        a.bitmap_xor(b).bitmap_to_string(),
        a.bitmap_andnot(b).bitmap_to_string(),
        a.bitmap_cardinality(),
        a.bitmap_to_array(),
        a.bitmap_to_bytes().bitmap_from_bytes().bitmap_to_string(),
    )
    bitmaps = casted.select(array(col("n")).bitmap_build().alias("b"))
    all_of = bitmaps.select(
        col("b").bitmap_or_agg().bitmap_to_string(),
        col("b").bitmap_and_agg().bitmap_to_string(),
        col("b").bitmap_xor_agg().bitmap_to_string(),
        col("b").bitmap_or_cardinality_agg(),
        col("b").bitmap_and_cardinality_agg(),
        col("b").bitmap_xor_cardinality_agg(),
    )
    return [built, sets, all_of]


@program()
def objects_of_the_table_api(env, t_env):
    from pyflink.table.expressions import col, object_of

    numbers = t_env.from_elements([("a", 1), ("b", 3)], ["k", "n"])
    made = object_of("a.B", "x", col("n"), "y", "q")
    return numbers.select(made.get("x"), made.object_update("y", "z").get("y"))


@program()
def updates_of_objects_of_the_table_api(env, t_env):
    from pyflink.table.expressions import col

    objects = t_env.sql_query("SELECT OBJECT_OF('a.B', 'x', n, 'y', 'q') AS o FROM (VALUES (1), (2)) AS t (n)")
    return objects.select(col("o").object_update("y", "z").get("y"), col("o").get("x"))


def _int():
    from pyflink.table import DataTypes

    return DataTypes.INT()


script("comparisons_of_bitmaps", """
CREATE VIEW b AS SELECT id, BITMAP_BUILD(a) AS m, BITMAP_BUILD(c) AS n FROM (VALUES (1, ARRAY[1, 2], ARRAY[1, 2]), (2, ARRAY[1], ARRAY[1, 3]), (3, CAST(NULL AS ARRAY<INT>), ARRAY[1])) AS t (id, a, c);
SELECT id, m = n AS f FROM b;
SELECT id, m <> n AS f FROM b;
SELECT id, m < n AS f FROM b;
SELECT id, m >= n AS f FROM b;
SELECT id FROM b WHERE m IN (n);
SELECT id, m BETWEEN n AND m AS f FROM b;
SELECT id, GREATEST(m, n) AS f FROM b;
SELECT CAST(m AS STRING) AS m, COUNT(*) AS c FROM b GROUP BY m;
SELECT CAST(m AS STRING) AS m FROM (SELECT DISTINCT m FROM b);
SELECT COUNT(DISTINCT m) AS c FROM b;
SELECT MAX(m) AS f FROM b;
SELECT id FROM b ORDER BY m LIMIT 2;
SELECT x.id, y.id AS i FROM b x JOIN b y ON x.m = y.n;
SELECT m IS DISTINCT FROM n AS f FROM b;
SELECT CAST(NULLIF(m, n) AS STRING) AS f FROM b;
SELECT CASE m WHEN n THEN 1 ELSE 2 END AS f FROM b;
SELECT CAST(CASE WHEN id = 1 THEN m ELSE n END AS STRING) AS f FROM b;
SELECT CAST(COALESCE(m, n) AS STRING) AS f FROM b;
SELECT m IS NULL AS f FROM b;
""", order="multiset", modes=BOTH)  # fmt: skip
script("orders_of_collections", """
CREATE VIEW o AS SELECT * FROM (VALUES (1, ARRAY[2], MAP['a', 1], ROW(2, 'x')), (2, ARRAY[1], MAP['a', 2], ROW(1, 'y'))) AS t (id, a, m, r);
SELECT id FROM o ORDER BY a LIMIT 2;
SELECT id FROM o ORDER BY m LIMIT 2;
SELECT id FROM o ORDER BY r LIMIT 2;
SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY a) AS n FROM o) WHERE n = 1;
SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY m) AS n FROM o) WHERE n = 1;
SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY r) AS n FROM o) WHERE n = 1;
SELECT CAST(a AS STRING) AS a, COUNT(*) AS c FROM o GROUP BY a;
SELECT CAST(m AS STRING) AS m, COUNT(*) AS c FROM o GROUP BY m;
SELECT CAST(r AS STRING) AS r, COUNT(*) AS c FROM o GROUP BY r;
""", modes=BOTH)  # fmt: skip
script("watermarks_of_sources", """
CREATE TABLE g (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS SOURCE_WATERMARK()) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
SELECT COUNT(*) AS c FROM g;
SELECT v IS NULL AS f FROM g;
CREATE TABLE f (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS SOURCE_WATERMARK()) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'csv');
INSERT INTO f VALUES (TIMESTAMP '2020-01-01 00:00:00', 1);
SELECT v FROM f;
DESCRIBE f;
CREATE TABLE h (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts - SOURCE_WATERMARK()) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
SELECT v IS NULL AS f FROM h;
""", modes=BOTH)  # fmt: skip
