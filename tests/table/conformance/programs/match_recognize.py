"""MATCH_RECOGNIZE."""

from tests.table.conformance.registry import BATCH, BOTH, script

ROWS = """1,ACME,1000,12,1
2,ACME,2000,17,2
12,XYZ,2500,5,1
3,ACME,3000,19,1
13,XYZ,3500,4,-1
4,ACME,4000,21,3
14,XYZ,4500,3,7
5,ACME,5000,25,2
15,XYZ,5500,6,2
6,ACME,6000,18,1
16,XYZ,6500,9,-1
7,ACME,7000,15,1
17,XYZ,7500,-1,2
8,ACME,8000,14,2
18,XYZ,8500,2,2
9,ACME,9000,24,2
19,XYZ,9500,8,2
10,ACME,10000,25,2
11,ACME,11000,19,1
20,XYZ,11500,7,3"""
"""What is -1 is NULL in the table: literals alone are one source, so that the file has their order."""
_VALUES = ", ".join(
    f"({i}, '{k}', {ms}, {p}, {x})" for i, k, ms, p, x in (line.split(",") for line in ROWS.splitlines())
)
_FILE = "WITH ('connector' = 'filesystem', 'path' = '{directory}/ticks', 'format' = 'csv')"
_COLUMNS = (
    "id INT, symbol STRING, ms BIGINT, p INT, x INT, price AS NULLIF(p, -1), tax AS NULLIF(x, -1), "
    "o AS ROW(p, symbol), pt AS PROCTIME()"
)
TICKS = f"""
CREATE TABLE lines (id INT, symbol STRING, ms BIGINT, p INT, x INT) {_FILE};
INSERT INTO lines VALUES {_VALUES};
CREATE TABLE ticks ({_COLUMNS}, ts AS CAST(TO_TIMESTAMP_LTZ(ms, 3) AS TIMESTAMP(3)), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND) {_FILE};
CREATE TABLE pairs ({_COLUMNS}, ts AS TO_TIMESTAMP(FROM_UNIXTIME(ms / 2000 * 2)), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND) {_FILE};
CREATE TABLE instants ({_COLUMNS}, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND) {_FILE};
"""


def match(
    pattern="A B C",
    define="C AS C.price > B.price",
    measures="A.id AS a, B.id AS b, C.id AS c",
    *,
    keys="PARTITION BY symbol",
    order="ORDER BY ts",
    rows="ONE ROW PER MATCH",
    skip="AFTER MATCH SKIP PAST LAST ROW",
    within="",
    source="ticks",
    select="*",
    alias="AS T",
):
    clause = f"{keys} {order} MEASURES {measures} {rows} {skip} PATTERN ({pattern}) {within} DEFINE {define}"
    return f"SELECT {select} FROM {source} MATCH_RECOGNIZE ({clause}) {alias};\n"


def cases(name, statements, **options):
    script(name, TICKS + "".join(statements), level=2, order="multiset", **options)


def ends(pattern):
    """Measures that show all rows of the variables of a pattern."""
    return ", ".join(
        f"FIRST({v}.id) AS {v.lower()}1, LAST({v}.id) AS {v.lower()}2, COUNT({v}.id) AS {v.lower()}c"
        for v in "ABCD"
        if v in pattern
    )


NEXT = "AFTER MATCH SKIP TO NEXT ROW"
RISE = "B AS B.price > A.price, C AS C.price < LAST(B.price)"
QUANTIFIED = (
    "A B C", "A B* C", "A B+ C", "A B? C", "A B{2} C", "A B{1,} C", "A B{1,2} C", "A B{2,3} C", "A B{0,2} C",
    "A B*? C", "A B+? C", "A B{2}? C", "A B{1,}? C", "A B{1,2}? C", "A B{0,3}? C", "(A B) C", "A (B) C", "(A)+ B C",
    "A B C?", "A B C{2}", "A B C+?", "A B C*?", "A B C{1,}?", "A B C{1,2}?", "A? B C", "A*? B C", "A+ B{2} C",
)  # fmt: skip
cases("match_quantifiers", [match(p, RISE, ends(p)) for p in QUANTIFIED], modes=BOTH)
LOOSE = "B AS B.price > A.price OR B.tax = 1, C AS C.tax = 2 OR B.price IS NULL"
cases("match_quantifiers_from_each_row", [match(p, LOOSE, ends(p), skip=NEXT) for p in QUANTIFIED[:9]])
AMBIGUOUS = ("A+? B+? C", "A{1,3}? B{1,3}? C", "A B? C? D", "A B*? C*? D", "A+? B? C", "A{2,4}? B{1,2} C", "A? B? C D")
cases(
    "match_rows_of_several_variables",
    [
        match(p, f"{p[-1]} AS {p[-1]}.{condition}", ends(p), skip=skip)
        for p in AMBIGUOUS
        for condition in ("price < 16", "tax = 2")
        for skip in ("AFTER MATCH SKIP PAST LAST ROW", NEXT)
    ],
    modes=BATCH,
)

HIGH = "A AS A.price > 18, B AS B.price > 0"
cases(
    "match_skip",
    [
        match("A B C", skip=""),
        match("A B C", skip=NEXT),
        match("A B C", skip="AFTER MATCH SKIP TO FIRST B"),
        match("A B C", skip="AFTER MATCH SKIP TO LAST C"),
        match("A B C", skip="AFTER MATCH SKIP TO B"),
        match("A+ B", HIGH, ends("AB"), skip="AFTER MATCH SKIP TO LAST B"),
        match("A+ B", HIGH, ends("AB"), skip=NEXT),
        match("A+ B", HIGH, ends("AB")),
        match("A{2} B", "A AS A.price > 11", ends("AB"), skip="AFTER MATCH SKIP TO LAST A"),
        match("A{2} B? C", "B AS B.price > 20", ends("ABC"), skip="AFTER MATCH SKIP TO LAST A"),
        match("A B* C", "B AS B.price > A.price", ends("ABC"), skip="AFTER MATCH SKIP TO LAST B"),
        match("A+ B", HIGH, skip="AFTER MATCH SKIP TO LAST A"),
        match("A B C", skip="AFTER MATCH SKIP TO A"),
        match("A B C", skip="AFTER MATCH SKIP TO FIRST X"),
    ],
    modes=BOTH,
)

PEAK = "A AS A.price > 18, B AS B.price <= 18"
cases(
    "match_measures",
    [
        match("A+ B", PEAK, measures)
        for measures in (
            "LAST(A.price, 1) AS x, FIRST(A.price, 1) AS y, LAST(A.price, 5) AS z, FIRST(A.price, 5) AS w",
            "price AS x, LAST(price) AS y, LAST(price, 1) AS z, FIRST(price) AS u, FIRST(price, 1) AS v",
            "SUM(A.price) AS a, SUM(price) AS b, COUNT(*) AS c, COUNT(A.tax) AS d, AVG(A.price) AS e, MIN(A.price) AS f, MAX(price) AS g",
            "SUM(A.price * A.tax) AS x, SUM(A.price) + 1 AS y, SUM(LAST(A.price)) AS z, AVG(CAST(A.price AS DOUBLE)) AS u",
            "LISTAGG(A.symbol) AS x, FIRST_VALUE(A.price) AS y, LAST_VALUE(A.price) AS z, STDDEV_POP(A.price) AS u",
            "ARRAY_AGG(A.price) AS x, COLLECT(A.tax) AS y",
            "CAST(A.ts AS STRING) AS x, CAST(FIRST(A.ts) AS STRING) AS y, B.ts AS z",
            "FINAL LAST(A.price) AS x, FINAL SUM(A.price) AS y, LAST(A.price * 2, 1) AS z, LAST(A.price + A.tax, 1) AS u",
            "CASE WHEN A.price > 10 THEN A.id ELSE B.id END AS x, COALESCE(LAST(A.price, 9), 0) AS y, UPPER(symbol) AS z, 'c' AS c",
            "A.o AS y, CAST(B.price AS STRING) || A.symbol AS z, MATCH_PROCTIME() IS NULL AS u",
            "A.ms AS x, CAST(A.price AS DECIMAL(10, 2)) / 3 AS y",
        )
    ],
    modes=BOTH,
)
cases(
    "match_rowtime",
    [
        match("A+ B", PEAK, "MATCH_ROWTIME() AS x, MATCH_ROWTIME(ts) AS y"),
        match("A+ B", PEAK, "MATCH_ROWTIME() AS x, CAST(MATCH_ROWTIME(ts) AS STRING) AS y", source="instants"),
        match("A+ B", "A AS A.price > 18 AND MATCH_ROWTIME() > TIMESTAMP '1970-01-01 00:00:03'", ends("AB")),
        match("A B* C", "A AS A.tax = 1, B AS A.id = 1 AND B.id < 6, C AS C.id > 8 OR A.id > 2", "A.id AS a, MATCH_ROWTIME() AS t", skip=NEXT),
        match("A B* C", "A AS A.tax = 1, B AS A.id = 1 AND B.id < 9, C AS C.id > 12 OR A.id > 2", "A.id AS a, MATCH_ROWTIME() AS t", skip=NEXT),
        match("A B* C", "A AS A.tax = 1, B AS A.id = 1 AND B.id < 9, C AS C.id > 12 OR A.id > 2", "A.id AS a, MATCH_ROWTIME() AS t", skip=NEXT, within="WITHIN INTERVAL '4' SECOND"),
        match("A B", "B AS TRUE", "MATCH_ROWTIME() > TIMESTAMP '2020-01-01 00:00:00' AS t", order="ORDER BY pt"),
    ],
)  # fmt: skip
cases(
    "match_rowtime_in_tokyo",
    [match("A B", "B AS B.id = 2", "CAST(MATCH_ROWTIME() AS STRING) AS x, CAST(MATCH_ROWTIME(ts) AS STRING) AS y, CAST(A.ts AS STRING) AS z", source="instants")],
    config={"table.local-time-zone": "Asia/Tokyo"},
)  # fmt: skip

cases(
    "match_conditions",
    [
        match("A+ B", define, ends("AB"))
        for define in (
            "A AS price > 18, B AS price <= 18",
            "A AS SUM(A.price) < 70, B AS TRUE",
            "A AS COUNT(A.id) < 3, B AS B.id > 0",
            "A AS COUNT(*) < 3, B AS COUNT(*) = 3",
            "A AS AVG(A.price) > 18",
            "A AS LAST(A.price, 1) IS NULL OR A.price > LAST(A.price, 1), B AS B.price < LAST(A.price)",
            "A AS LAST(A.price, 1) IS NULL OR A.price > LAST(A.price, 1), B AS B.price < LAST(A.price, 1)",
            "A AS A.price > FIRST(A.price) OR FIRST(A.price) = A.price, B AS B.price < FIRST(A.price)",
            "A AS LAST(price, 1) IS NULL OR price > LAST(price, 1), B AS B.price < LAST(price, 1)",
            "A AS B.price IS NULL AND A.price > 18, B AS B.price < A.price",
            "A AS A.price > 18, B AS B.price < SUM(A.price) - SUM(B.price)",
            "B AS B.price <= 18",
            "A AS A.price BETWEEN FIRST(A.price) AND 25",
            "A AS tax > 0 AND SUM(price) < 90",
            "A AS LAST(A.price, 1) > 3",
            "A AS A.tax > 1 OR A.tax IS NULL, B AS NOT B.tax > 1",
            "A AS A.price > 18, X AS X.price > 1",
            "A AS MAX(A.price) - MIN(A.price) < 9, B AS B.o.p > 0",
        )
    ],
    modes=BOTH,
)
FALL = "B AS B.price > A.price, C AS C.price < A.price"
cases(
    "match_within",
    [
        match("A B C", within=f"WITHIN INTERVAL {interval}") + match("A B+ C", FALL, ends("ABC"), skip=NEXT, within=f"WITHIN INTERVAL {interval}")
        for interval in ("'2' SECOND", "'3' SECOND", "'0' SECOND", "'1' DAY", "'0 00:00:02.001' DAY TO SECOND")
    ],
    modes=BOTH,
)  # fmt: skip
cases(
    "match_order_and_partitions",
    [
        match(order="ORDER BY ts, price DESC, id", source="pairs"),
        match(order="ORDER BY ts ASC, price, id", source="pairs"),
        match(keys=""),
        match(keys="PARTITION BY symbol, tax"),
        match(keys="PARTITION BY tax", measures="A.symbol AS a, B.symbol AS b"),
        match(keys="PARTITION BY ticks.symbol", order="ORDER BY ticks.ts"),
        match(rows="", alias=""),
    ],
    modes=BOTH,
)
cases(
    "match_rows_in_the_order_of_arrival",
    [match(source="pairs"), match(order="ORDER BY pt"), match(order="ORDER BY pt", keys="")],
)
VIEW = "CREATE VIEW found AS " + match("A B C", measures="A.id AS a, MATCH_ROWTIME() AS t", skip=NEXT)
cases(
    "match_in_queries",
    [
        VIEW,
        match(source="(SELECT * FROM ticks WHERE tax = 1)"),
        match(source="(SELECT id, symbol, price, ts FROM ticks)", alias=""),
        match(source="ticks AS y"),
        match(select="T.symbol, a + c AS s"),
        match(select="T.a, u.b AS ub", alias="AS T JOIN (SELECT id AS b FROM ticks) AS u ON T.a = u.b"),
        match(source="(SELECT symbol, window_time AS ts, COUNT(*) AS id, MAX(price) AS price FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY symbol, window_start, window_end, window_time)"),
        "SELECT COUNT(*) AS n FROM found;\n",
        "SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE found, DESCRIPTOR(t), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;\n",
        "SELECT symbol, a, SUM(a) OVER (PARTITION BY symbol ORDER BY t) AS s FROM found;\n",
        "SELECT * FROM (SELECT symbol, a AS price, t FROM found) MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY t MEASURES A.price AS a, B.price AS b PATTERN (A B) DEFINE B AS B.price > A.price);\n",
        "SELECT found.a, r.id FROM found, ticks AS r WHERE found.symbol = r.symbol AND r.ts BETWEEN found.t AND found.t + INTERVAL '1' SECOND;\n",
    ],
)  # fmt: skip

SUBSETS = "SUBSET S = (A, B), U = (B, C)"
cases(
    "match_subsets_and_anchors",
    [
        match("A B+? C", RISE, "A.id AS a, S.id AS s, LAST(U.price, 1) AS u, COUNT(S.price) AS n", within=SUBSETS),
        match(
            "A B+? C", RISE, "COALESCE(S.price, 0) + A.id AS s, SUM(U.price) AS u, MAX(S.symbol) AS m", within=SUBSETS
        ),
        match("A B+ C", RISE, within=f"WITHIN INTERVAL '3' SECOND {SUBSETS}"),
        match("A B+? C", f"{RISE}, Z AS Z.price > 0", "A.id AS a, Z.id AS z, LAST(Z.id) AS y, COUNT(Z.id) AS n"),
        match("^ A B+? C", RISE),
        match("A B+? C $", RISE),
        match("^ A B+? C $", RISE, skip=NEXT),
        match("A ^ B+ C", RISE),
        match("A B+ C", "C AS C.price < S.price", within=SUBSETS),
        match("A B+ C", RISE, within="SUBSET S = (A, Z)"),
        match("A B+ C", RISE, within="SUBSET A = (B, C)"),
        match("A B+ C", RISE, within="SUBSET S = (A, B), S = (A, C)"),
        match("A B+ C", RISE, within="SUBSET S = A"),
    ],
    modes=BOTH,
)

REFUSED_PATTERNS = (
    "A B{,2} C", "A B{0,0} C", "A B{0} C", "A B{2,1} C", "A B?? C", "A | B C", "A (B | C)", "(A B)+ C", "PERMUTE(A, B, C)",
    "A {- B -} C", "A B C+", "A B C*", "A B C{1,2}", "A? B? C?", "A*", "A* B* C*?", "A+ B? C", "A B{1,2} C? A", "A B A",
)  # fmt: skip
cases("match_patterns_that_are_refused", [match(p) for p in REFUSED_PATTERNS], modes=BOTH)
REFUSED_MEASURES = (
    "PREV(A.price) AS x", "NEXT(A.price) AS x", "X.id AS x", "a.id AS x", "LAST(A.price, tax) AS x", "LAST(A.price, 1 + 1) AS x",
    "COUNT(A.*) AS x", "SUM(DISTINCT A.price) AS x", "COUNT(DISTINCT A.price) AS x", "SUM(A.price * B.tax) AS x",
    "SUM(A.price) FILTER (WHERE A.price > 1) AS x", "CLASSIFIER() AS x", "MATCH_NUMBER() AS x", "RUNNING LAST(A.price) AS x",
    "LAST(A.price + B.tax) AS x", "LAST(LAST(A.price, 1), 1) AS x", "FIRST(LAST(A.price)) AS x", "LAST(SUM(A.price)) AS x",
    "A.price", "A.*", "SUM(A.price)", "(SELECT 1) AS x", "ROW_NUMBER() OVER () AS x", "SUM(A.price) AS symbol", "A.id AS a, B.id AS a",
)  # fmt: skip
cases("match_measures_that_are_refused", [match(measures=measures) for measures in REFUSED_MEASURES])
REFUSED_CONDITIONS = (
    "A AS A.price", "A AS X.price > 1", "A AS A.price > PREV(A.price)", "A AS SUM(DISTINCT A.price) < 100", "A AS CLASSIFIER() = 'A'",
    "A AS A.price > 18, A AS A.price > 3", "A AS EXISTS (SELECT 1)", "A AS A.price IN (SELECT 1)", "A AS RUNNING LAST(A.price) > 18", "",
)  # fmt: skip
cases("match_conditions_that_are_refused", [match(define=define) for define in REFUSED_CONDITIONS])
CHANGES = "(SELECT symbol, COUNT(*) AS id, MAX(price) AS price, PROCTIME() AS ts FROM ticks GROUP BY symbol)"
cases(
    "match_clauses_that_are_refused",
    [
        match(rows="ALL ROWS PER MATCH"),
        match(order=""),
        match(order="ORDER BY id"),
        match(order="ORDER BY id, ts"),
        match(order="ORDER BY ts DESC"),
        match(keys="PARTITION BY MOD(id, 2)"),
        match(keys="PARTITION BY SYMBOL"),
        match(keys="PARTITION BY symbol, symbol"),
        match(keys="PARTITION BY y.symbol"),
        match(within="WITHIN INTERVAL '1' MONTH"),
        match(within="WITHIN 5"),
        match(source="ticks y"),
        match(source=CHANGES),
        "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.id AS a PATTERN (A B C)) AS T;\n",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B C) DEFINE C AS C.price > B.price) AS T;\n",
    ],
)

# Prices that fall and then rise, as in Flink's documentation, and bids of an auction.
STOCKS = """
CREATE TABLE quotes (symbol STRING, ms BIGINT, price INT, tax INT, moment AS CAST(TO_TIMESTAMP_LTZ(ms, 3) AS TIMESTAMP(3)), WATERMARK FOR moment AS moment - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = '{directory}/quotes', 'format' = 'csv');
INSERT INTO quotes (symbol, ms, price, tax) VALUES ('ACME', 0, 12, 1), ('ACME', 1000, 17, 2), ('BOX', 1500, 40, 1), ('ACME', 2000, 19, 1), ('BOX', 2500, 38, 2), ('ACME', 3000, 21, 3), ('BOX', 3500, 39, 1), ('ACME', 4000, 25, 2), ('ACME', 5000, 18, 1), ('BOX', 5500, 30, 3), ('ACME', 6000, 15, 1), ('ACME', 7000, 14, 2), ('BOX', 7500, 31, 1), ('ACME', 8000, 24, 2), ('ACME', 9000, 25, 2), ('ACME', 10000, 19, 1), ('BOX', 10500, 12, 1), ('BOX', 11500, 50, 2);
"""
FALLS_AND_RISES = """
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY moment
  MEASURES TOP.moment AS top_at, LAST(FALL.moment) AS bottom_at, LAST(RISE.moment) AS over_at, MIN(FALL.price) AS lowest
  ONE ROW PER MATCH AFTER MATCH SKIP TO LAST RISE
  PATTERN (TOP FALL+ RISE)
  DEFINE FALL AS FALL.price < COALESCE(LAST(FALL.price, 1), TOP.price), RISE AS RISE.price > LAST(FALL.price)
) AS found;
"""
STREAKS = """
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY moment
  MEASURES FIRST(A.moment) AS first_at, LAST(A.moment) AS last_at, AVG(A.price) AS average
  ONE ROW PER MATCH AFTER MATCH SKIP {skip}
  PATTERN (A+ B) DEFINE A AS AVG(A.price) < {limit}
);
"""
DROPS = """
SELECT symbol, at_low, lost FROM quotes MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY moment MEASURES C.moment AS at_low, A.price - C.price AS lost
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B* C) WITHIN INTERVAL '{seconds}' SECOND
  DEFINE B AS B.price > A.price - 5, C AS C.price < A.price - 5
);
"""
script(
    "match_stock_prices",
    STOCKS
    + FALLS_AND_RISES
    + "".join(STREAKS.format(skip=skip, limit=limit) for skip in ("PAST LAST ROW", "TO NEXT ROW", "TO LAST A") for limit in (15, 30))
    + "".join(DROPS.format(seconds=seconds) for seconds in (2, 4, 60)),
    level=2, order="multiset", modes=BOTH,
)  # fmt: skip
