"""Functions and casts of public reports: what people found wrong in Flink, in libraries for it and in other engines.

``tests/corpus/reports.json`` names the report of each case.
"""

from tests.table.conformance.registry import BOTH, program, scalars, table

scalars(
    "report_decimals_divided",
    """
    d / i
    d / CAST(i AS BIGINT)
    d / CAST(i AS SMALLINT)
    i / d
    d / 3
    CAST(1 AS DECIMAL(38, 0)) / i
    d * CAST(i AS BIGINT)
    MOD(d, i)
    d + i
    """,
    table("d DECIMAL(10, 2); i INT", ("1.00", "3"), ("-7.55", "2"), ("NULL", "1"), ("100.10", "NULL"), ("99999999.99", "7")),
)  # fmt: skip
scalars(
    "report_floats_with_literals",
    """
    f * CAST(2 AS FLOAT)
    f * 2
    f + f
    f / CAST(3 AS FLOAT)
    f * CAST(0.1 AS FLOAT)
    f / 3
    f - CAST(0.3 AS FLOAT)
    CAST(f AS DOUBLE) * CAST(0.1 AS FLOAT)
    f > CAST(0.1 AS FLOAT)
    """,
    table("f FLOAT", ("0.1",), ("1.7",), ("16777217",), ("NULL",)),
)
scalars(
    "report_elements_of_arrays_that_are_null",
    """
    ARRAY_POSITION(ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT))
    ARRAY_CONTAINS(ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT))
    ARRAY_REMOVE(ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT))
    ARRAY_POSITION(a, i)
    ARRAY_CONTAINS(a, i)
    ARRAY_REMOVE(a, i)
    ARRAY_DISTINCT(a)
    ARRAY_EXCEPT(a, ARRAY[i])
    ARRAY_INTERSECT(a, ARRAY[i])
    ARRAY_UNION(a, ARRAY[i])
    ARRAY_APPEND(a, i)
    ARRAY_PREPEND(a, i)
    ARRAY_MAX(a)
    ARRAY_MIN(a)
    ARRAY_JOIN(CAST(a AS ARRAY<STRING>), '-')
    ARRAY_JOIN(CAST(a AS ARRAY<STRING>), '-', '?')
    ARRAY_REVERSE(a)
    ARRAY_SLICE(a, 1, 2)
    ARRAY_SORT(a)
    CARDINALITY(a)
    """,
    "(SELECT id, a, i FROM (VALUES (1, ARRAY[1, 2, CAST(NULL AS INT), 2], 2), (2, ARRAY[3, CAST(NULL AS INT)], CAST(NULL AS INT)), "
    "(3, ARRAY[CAST(NULL AS INT)], 1), (4, CAST(NULL AS ARRAY<INT>), 1)) AS v (id, a, i))",
)  # fmt: skip
scalars(
    "report_padding",
    """
    LPAD(s, n, p)
    RPAD(s, n, p)
    LPAD('hi', 4, '??')
    LPAD('hi', 1, '??')
    RPAD('hi', 4, '')
    RPAD('hi', 1, '??')
    LPAD('hi', -1, 'x')
    RPAD('hi', 0, 'x')
    CHAR_LENGTH(LPAD(s, n, p))
    LPAD(s, 5, 'xyz')
    RPAD(s, 5, 'xyz')
    """,
    table(
        "s STRING; n INT; p STRING",
        ("'hi'", "4", "'?'"), ("'hi'", "-1", "'?'"), ("'hi'", "4", "''"), ("'hi'", "0", "'ab'"), ("''", "3", "'ab'"),
        ("NULL", "3", "'a'"), ("'a'", "NULL", "'a'"), ("'ö'", "3", "'ü€'"), ("'hello'", "3", "''"),
    ),
)  # fmt: skip
scalars(
    "report_regular_expressions",
    """
    REGEXP(s, p)
    REGEXP_REPLACE(s, p, r)
    REGEXP_COUNT(s, p)
    REGEXP_INSTR(s, p)
    REGEXP_SUBSTR(s, p)
    REGEXP_EXTRACT(s, p)
    REGEXP_EXTRACT(s, p, 1)
    REGEXP_EXTRACT_ALL(s, p, 0)
    s SIMILAR TO p
    SPLIT(s, p)
    SPLIT_INDEX(s, p, 1)
    """,
    table(
        "s STRING; p STRING; r STRING",
        ("'abc123abc'", "'abc'", "'X'"), ("'abc123abc'", "'([a-z]+)([0-9]+)'", "'$2-$1'"), ("'aaa'", "'a*'", "'b'"),
        ("'a.b.c'", "'.'", "'x'"), ("'a.b.c'", "'\\.'", "'\\\\'"), ("'ünï'", "'\\w+'", "'$0'"), ("''", "'x?'", "'y'"),
        ("NULL", "'a'", "'b'"), ("'abc'", "NULL", "'b'"), ("'abc'", "'('", "'b'"), ("'ABC abc'", "'(?i)abc'", "'z'"),
        ("'line\\nline'", "'^line$'", "'x'"), ("'foobar'", "'foo(?=bar)'", "'<$0>'"), ("'foobar'", "'(?<=foo)bar'", "''"),
    ),
)  # fmt: skip
scalars(
    "report_texts_as_points_in_time",
    """
    TRY_CAST(s AS TIMESTAMP(3))
    TRY_CAST(s AS TIMESTAMP(0))
    CAST(TRY_CAST(s AS TIMESTAMP(9)) AS STRING)
    TRY_CAST(s AS DATE)
    TRY_CAST(s AS TIME)
    TO_TIMESTAMP(s)
    TO_TIMESTAMP(s, 'yyyy-M-d HH:mm:ss')
    TO_DATE(s)
    TO_DATE(s, 'yyyy-M-d')
    UNIX_TIMESTAMP(s)
    DATE_FORMAT(s, 'yyyy/MM/dd HH:mm')
    CAST(TO_TIMESTAMP_LTZ(s) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(s, 'yyyy-MM-dd HH:mm:ss') AS STRING)
    CAST(TO_TIMESTAMP_LTZ(s, 'yyyy-MM-dd HH:mm:ss', 'Asia/Shanghai') AS STRING)
    """,
    table(
        "s STRING",
        ("'1999-9-10 05:20:10'",), ("'1999-9-10'",), ("'2010-10-14 12:22:22.123456'",), ("'2010-10-14 12:22'",),
        ("'2010-10-14T12:22:22'",), ("'2010-10'",), ("'2010'",), ("'2020-02-30'",), ("'2023-01-01 00:00:00'",), ("''",),
        ("NULL",), ("' 2023-01-01 00:00:00 '",), ("'2023-01-01 24:00:00'",), ("'10000-01-01'",), ("'12:30'",), ("'x'",),
    ),
)  # fmt: skip
scalars(
    "report_texts_read_by_patterns",
    """
    TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ss')
    TO_TIMESTAMP(s, 'yyyy-MM-dd')
    TO_TIMESTAMP(s, 'dd.MM.yyyy')
    TO_TIMESTAMP(s, 'dd.MM.yyyy HH:mm')
    TO_TIMESTAMP(s, 'yyyyMMddHHmmss')
    TO_TIMESTAMP(s, 'HH:mm')
    CAST(TO_TIMESTAMP_LTZ(s, 'dd.MM.yyyy') AS STRING)
    TRY_CAST(s AS TIMESTAMP(3))
    TRY_CAST(s AS DATE)
    TRY_CAST(s AS TIME)
    """,
    table(
        "s STRING",
        ("'2020-02-30 10:00:00'",), ("'2020-2-3 1:2:3'",), ("'2020-02-03 10:00:00.5'",), ("'2020-02-03 10:00:61'",), ("'2020-02-03 25:00:00'",),
        ("' 2020-02-03'",), ("'2020-02-03 '",), ("'2020-13-01'",), ("'2020-02-32'",), ("'2020-02-31'",), ("'30.02.2020'",), ("'3.2.2020'",),
        ("'03.02.2020 10:00'",), ("'20200203100000'",), ("'10:00'",), ("'2020-02-03 24:00:00'",), ("'2020-02-03 24:00:01'",), ("'2020-02-03 10:60:00'",),
        ("'2020-02-03 10:00:00.123456789'",), ("'2020-02-03 10:00:00.'",), ("'2020-02-03  10:00:00'",), ("'2020-02-03T10:00:00Z'",),
        ("'20-02-03'",), ("'2020-02-03 1'",), ("'2020-002-03'",), ("'02020-02-03'",), ("'2020-02-03 10:00:00 '",), ("' 10:00:00'",), ("'24:00:00'",), ("'1:2:3'",),
    ),
)  # fmt: skip
scalars(
    "report_hash_codes",
    """
    HASH_CODE(s)
    HASH_CODE(i)
    HASH_CODE(CAST(i AS BIGINT))
    HASH_CODE(CAST(i AS BIGINT) * 10000000000)
    HASH_CODE(CAST(i AS DOUBLE) / 3)
    HASH_CODE(CAST(i AS FLOAT) / 3)
    HASH_CODE(i > 1)
    HASH_CODE(CAST(i AS SMALLINT))
    HASH_CODE(CAST(i AS TINYINT))
    HASH_CODE(CAST(i AS DECIMAL(10, 2)))
    HASH_CODE(DATE '2024-01-01')
    HASH_CODE(TIMESTAMP '2024-01-01 00:00:01')
    HASH_CODE(TIME '10:00:01')
    """,
    table("s STRING; i INT", ("'a'", "1"), ("''", "0"), ("'Hello, world'", "-5"), ("'ö€𝄞'", "100"), ("NULL", "NULL")),
)
scalars(
    "report_points_in_time_as_texts",
    """
    CAST(t AS STRING)
    CAST(CAST(t AS TIMESTAMP(0)) AS STRING)
    CAST(CAST(t AS TIMESTAMP(3)) AS STRING)
    CAST(CAST(t AS TIMESTAMP(6)) AS STRING)
    CAST(CAST(t AS TIMESTAMP_LTZ(3)) AS STRING)
    CAST(t AS VARCHAR(10))
    CAST(t AS CHAR(30))
    CAST(CAST(t AS DATE) AS STRING)
    CAST(CAST(t AS TIME) AS STRING)
    t || '!'
    """,
    table("t TIMESTAMP(9)", ("TIMESTAMP '2024-09-24 01:02:03.123456789'",), ("TIMESTAMP '0001-01-01 00:00:00'",),
          ("TIMESTAMP '1969-12-31 23:59:59.9'",), ("TIMESTAMP '9999-12-31 23:59:59.000000001'",), ("NULL",)),
)  # fmt: skip
scalars(
    "report_dates_with_units_below_a_day",
    """
    TIMESTAMPADD(HOUR, 1, d)
    TIMESTAMPADD(MINUTE, 90, d)
    TIMESTAMPADD(DAY, 1, d)
    TIMESTAMPADD(MONTH, 1, d)
    d + INTERVAL '1' HOUR
    d + INTERVAL '1' DAY
    d - INTERVAL '1' MONTH
    TIMESTAMPDIFF(MONTH, d, t)
    TIMESTAMPDIFF(MONTH, t, d)
    TIMESTAMPDIFF(YEAR, d, t)
    TIMESTAMPDIFF(DAY, d, t)
    TIMESTAMPDIFF(HOUR, d, t)
    TIMESTAMPDIFF(QUARTER, d, t)
    TIMESTAMPDIFF(WEEK, d, t)
    2 * INTERVAL '3' DAY
    INTERVAL '3' DAY * 2
    INTERVAL '1' MONTH * 3
    t + 2 * INTERVAL '3' DAY
    """,
    table(
        "d DATE; t TIMESTAMP(3)",
        ("DATE '2024-01-31'", "TIMESTAMP '2024-02-29 12:00:00'"), ("DATE '2024-01-31'", "TIMESTAMP '2024-03-31 00:00:00'"),
        ("DATE '2023-12-31'", "TIMESTAMP '2024-01-30 23:59:59.999'"), ("DATE '2024-05-15'", "TIMESTAMP '2024-03-14 00:00:00'"),
        ("NULL", "TIMESTAMP '2024-03-14 00:00:00'"),
    ),
)  # fmt: skip
scalars(
    "report_replacements_of_null",
    """
    IFNULL(i, 7)
    IFNULL(CAST(i AS BIGINT), 7)
    IFNULL(CAST(i AS DECIMAL(12, 3)), 7)
    COALESCE(i, 1.5)
    COALESCE(s, 'none')
    IF(1 > 2, 1, NULL)
    IF(i > 1, i, NULL)
    IF(i > 1, 'yes', NULL)
    NULL IS NULL
    NULLIF(i, 2)
    CASE WHEN s LIKE '0%' THEN i / 60 ELSE 0 END
    CASE WHEN s LIKE '0%' THEN i / 60.0 ELSE 0 END
    CASE WHEN i IN (1) THEN i / 60 ELSE 0 END
    CASE s WHEN '01' THEN 1 WHEN 'x' THEN 2 END
    CASE WHEN i IS NULL THEN 'null' WHEN i > 1 THEN 'large' ELSE 's' END
    i = '2'
    i IN ('2', '120')
    s = 1
    1 = '1'
    CAST(s AS VARCHAR(1)) = 'x'
    i BETWEEN '1' AND '3'
    """,
    table("i INT; s STRING", ("2", "'x'"), ("0", "'01'"), ("NULL", "'01'"), ("120", "'01'"), ("1", "NULL")),
)
scalars(
    "report_json_by_position",
    """
    JSON_VALUE(`columns`, '$[0].value')
    JSON_VALUE(`columns`, '$[2].value')
    JSON_VALUE(`columns`, '$[22].value')
    JSON_VALUE(`columns`, '$[0].value' RETURNING INT)
    JSON_VALUE(`columns`, '$[2].value' DEFAULT 'none' ON EMPTY)
    JSON_QUERY(`columns`, '$[*].value' WITH WRAPPER)
    JSON_EXISTS(`columns`, '$[1]')
    JSON_VALUE(`columns`, 'lax $.value')
    `columns` IS JSON ARRAY
    JSON_QUOTE(`columns`)
    JSON_UNQUOTE(JSON_QUOTE(`columns`))
    """,
    table("`columns` STRING", ("""'[{"value": 1}, {"value": "two"}, {"value": null}]'""",), ("'[]'",), ("'{\"value\": 3}'",),
          ("'no json'",), ("NULL",)),
)  # fmt: skip
scalars(
    "report_integer_division_and_powers",
    """
    6 / (1 / 2.0)
    CAST(6 AS DOUBLE) / (CAST(1 AS DOUBLE) / 2)
    FLOOR(CAST(i AS DOUBLE) / (CAST(1 AS DOUBLE) / j))
    i / j
    i % j
    POWER(i, j)
    POWER(i, -j)
    POWER(i, 0.5)
    CAST(POWER(i, j) AS BIGINT)
    FLOOR(i / 2)
    ROUND(i / 2.0)
    SIGN(-i)
    ABS(-i)
    BIN(i)
    HEX(i)
    UNHEX('414')
    UNHEX('4142')
    UNHEX('zz')
    HASH_CODE(i)
    HASH_CODE(CAST(i AS STRING))
    """,
    table("i INT; j INT", ("7", "2"), ("-7", "2"), ("6", "3"), ("0", "5"), ("NULL", "1"), ("2147483647", "2")),
)


@program(modes=BOTH)
def report_rows_within_rows_of_elements(env, t_env):
    from pyflink.common import Row
    from pyflink.table import DataTypes

    inner = DataTypes.ROW([DataTypes.FIELD(name, DataTypes.STRING()) for name in "abc"])
    kinds = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("rows", DataTypes.ARRAY(inner)), DataTypes.FIELD("one", inner)])  # fmt: skip
    rows = [Row("1A", "2A", "3A"), Row("1B", "2B", "3B")]
    return t_env.from_elements([(1, rows, Row("x", None, "z")), (2, [], None)], kinds)
