"""Arrays, maps and rows."""

from tests.table.conformance.registry import scalars, table

scalars(
    "arrays_maps_and_rows",
    """
    ARRAY[1, 2, 3]
    ARRAY[1, 2][1]
    ARRAY[1, 2][3]
    ARRAY['a', 'bcd']
    ARRAY[1, 2.5]
    ARRAY[1, CAST(NULL AS INT)]
    CARDINALITY(ARRAY[1, 2])
    ELEMENT(ARRAY[5])
    ARRAY_CONTAINS(ARRAY[1, 2], 2)
    ARRAY_CONTAINS(ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT))
    ARRAY_DISTINCT(ARRAY[1, 2, 1])
    ARRAY_REVERSE(ARRAY[1, 2, 3])
    ARRAY_POSITION(ARRAY['a', 'b'], 'b')
    ARRAY_REMOVE(ARRAY[1, 2, 1], 1)
    ARRAY_UNION(ARRAY[1, 2], ARRAY[2, 3])
    ARRAY_CONCAT(ARRAY[1], ARRAY[2, 3])
    ARRAY_APPEND(ARRAY[1], 2)
    ARRAY_PREPEND(ARRAY[1], 0)
    ARRAY_MAX(ARRAY[1, 3, 2])
    ARRAY_MIN(ARRAY[3, 1, 2])
    ARRAY_SLICE(ARRAY[1, 2, 3, 4], 2, 3)
    ARRAY_SORT(ARRAY[3, 1, CAST(NULL AS INT), 2])
    ARRAY_JOIN(ARRAY['a', CAST(NULL AS STRING), 'b'], ',')
    ARRAY_JOIN(ARRAY['a', CAST(NULL AS STRING), 'b'], ',', '-')
    ARRAY_EXCEPT(ARRAY[1, 2, 3], ARRAY[2])
    ARRAY_INTERSECT(ARRAY[1, 2, 3], ARRAY[2, 5])
    MAP['a', 1, 'b', 2]
    MAP['a', 1]['a']
    MAP['a', 1]['z']
    CARDINALITY(MAP['a', 1])
    MAP_KEYS(MAP['a', 1])
    MAP_VALUES(MAP['a', 1])
    MAP_ENTRIES(MAP['a', 1])
    MAP_FROM_ARRAYS(ARRAY['a', 'b'], ARRAY[1, 2])
    MAP_UNION(MAP['a', 1], MAP['a', 2, 'b', 3])
    ROW(1, 'a')
    (1, 'a')
    ROW(1, 'a') = ROW(1, 'a')
    ROW(1, ROW(TRUE, ARRAY[1.5]))
    CAST(ROW(1, 'a') AS ROW<x INT, y STRING>).y
    ARRAY[1, 2] = ARRAY[1, 2]
    ARRAY[ROW(1, 'a'), ROW(2, 'b')]
    ARRAY[ARRAY[1], ARRAY[2, 3]]
    MAP['k', ARRAY[1]]
    ARRAY[1, 2] IS NULL
    ARRAY[DATE '2020-01-02']
    MAP[1, TIMESTAMP '2020-01-02 03:04:05']
    ARRAY[x'61']
    ROW(CAST(1.50 AS DECIMAL(5, 2)), CAST(1 AS FLOAT))
    """,
)
scalars(
    "maps_in_the_order_of_java",
    """
    CAST(STR_TO_MAP(s) AS STRING)
    CAST(STR_TO_MAP(s, '=', ',') AS STRING)
    CAST(MAP_UNION(MAP['b', i, 'aa', 2, 'zz', 3, 'c', 4], MAP['q', 1, 'b', 7]) AS STRING)
    CAST(MAP_KEYS(STR_TO_MAP(s)) AS STRING)
    CAST(MAP_FROM_ARRAYS(ARRAY['zz', 'aa', 'b'], ARRAY[i, 2, 3]) AS STRING)
    JSON_STRING(MAP['b', i, 'B', 2, 'a', 3])
    JSON_STRING(CAST(ROW(i, 2) AS ROW<b INT, a INT>))
    JSON_OBJECT('z' VALUE i, 'a' VALUE MAP['b', i, 'a', 2])
    SPLIT_INDEX(s, 44, 1)
    SPLIT_INDEX(s, 300, 1)
    SPLIT_INDEX(s, 0, 0)
    LOG2(i)
    MOD(CAST(i AS BIGINT), 5)
    MOD(i, CAST(4 AS SMALLINT))
    CAST(TO_TIMESTAMP_LTZ(d, 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(d, 0) AS STRING)
    CAST(TIMESTAMPADD(DECADE, i, TIMESTAMP '2024-02-29 10:00:00.5') AS STRING)
    CAST(TIMESTAMPADD(CENTURY, i, DATE '2024-02-29') AS STRING)
    CAST(TIMESTAMPADD(HOUR, i, TIME '10:00:00') AS STRING)
    CAST(TIMESTAMPADD(MONTH, i, TIME '10:00:00') AS STRING)
    CAST(TIMESTAMPADD(DAY, i, TIME '10:00:00') AS STRING)
    TIMESTAMPDIFF(CENTURY, TIMESTAMP '1000-01-01 00:00:00', TIMESTAMP '2024-02-29 10:00:00')
    TIMESTAMPDIFF(MILLENNIUM, DATE '1000-01-01', DATE '2024-02-29')
    CAST(d AS VARCHAR(3))
    CAST(ROW(i, s) = ROW(i, s) AS STRING)
    CAST(ROW(i, s) = ROW(7, 'b=1,aa=2,zz=3,c,=5') AS STRING)
    CAST(ROW(i, s) <> ROW(7, 'x') AS STRING)
    """,
    table(
        "i INT; d DOUBLE; s STRING",
        ("7", "'-0.5'", "'b=1,aa=2,zz=3,c,=5'"),
        ("3", "'1e-7'", "''"),
        ("5", "'-1e-7'", "'x'"),
    ),
)
