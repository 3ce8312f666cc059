"""CAST and TRY_CAST between types."""

from tests.table.conformance.registry import scalars, table

TYPES = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10, 3)",
    "DECIMAL(5, 0)",
    "STRING",
    "CHAR(3)",
    "VARCHAR(3)",
    "DATE",
    "TIME",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "BYTES",
]
TEXTS = [
    "1",
    "-1",
    " 1 ",
    "1.5",
    "1.999",
    "abc",
    "",
    "true",
    "FALSE",
    "t",
    "yes",
    "0",
    "300",
    "3000000000",
    "1e3",
    "NaN",
    "Infinity",
    "2020-01-02",
    "2020-02-30",
    "12:34:56",
    "12:34:56.789",
    "2020-01-02 03:04:05",
    "2020-01-02 03:04:05.123456",
    "2020-01-02T03:04:05",
    "2020-1-2",
    "+5",
]

scalars(
    "casts_of_text",
    "\n".join(f"TRY_CAST(s AS {kind})" for kind in TYPES),
    table("s STRING", *((f"'{text}'",) for text in TEXTS), ("NULL",)),
)
scalars(
    "casts_of_text_that_fail",
    "CAST(s AS INT)\nCAST(s AS DOUBLE)\nCAST(s AS BOOLEAN)\nCAST(s AS DATE)\nCAST(s AS TIMESTAMP(3))\nCAST(s AS DECIMAL(5, 1))\nCAST(s AS TIME)\nCAST(s AS STRING)\nCAST(s AS BYTES)",
    table("s STRING", ("'abc'",)),
)
for name, kind, values in [
    ("booleans", "BOOLEAN", ["TRUE", "FALSE", "NULL"]),
    ("ints", "INT", ["0", "1", "-1", "127", "128", "40000", "2147483647", "-2147483648", "NULL"]),
    (
        "bigints",
        "BIGINT",
        ["0", "1", "2147483648", "-9223372036854775807", "9223372036854775807", "1600000000", "NULL"],
    ),
    (
        "doubles",
        "DOUBLE",
        [
            "0",
            "1.5",
            "-1.5",
            "2.5",
            "1e10",
            "1e20",
            "1e-5",
            "123456789.123",
            "0.1",
            "100",
            "1234567",
            "12345678",
            "NULL",
        ],
    ),
    ("floats", "FLOAT", ["0", "1.5", "-1.5", "0.1", "1e10", "16777216", "1e-5", "NULL"]),
    ("decimals", "DECIMAL(12, 4)", ["0", "1.5000", "-1.5", "2.5", "12345678.9999", "127.9", "0.0001", "NULL"]),
    ("dates", "DATE", ["DATE '2020-01-02'", "DATE '1969-12-31'", "DATE '1900-03-01'", "DATE '9999-12-31'", "NULL"]),
    ("times", "TIME", ["TIME '12:34:56'", "TIME '00:00:00'", "TIME '23:59:59.999'", "NULL"]),
    (
        "timestamps",
        "TIMESTAMP(6)",
        [
            "TIMESTAMP '2020-01-02 03:04:05.123456'",
            "TIMESTAMP '1969-12-31 23:59:59.999999'",
            "TIMESTAMP '2020-01-02 00:00:00'",
            "NULL",
        ],
    ),
    ("bytes", "BYTES", ["x'6162'", "x''", "x'ff00'", "NULL"]),
]:
    scalars(
        f"casts_of_{name}",
        "\n".join(
            [*(f"CAST(v AS {to})" for to in TYPES), *(f"TRY_CAST(v AS {to})" for to in ("INT", "STRING", "DATE"))]
        ),
        table(f"v {kind}", *((value,) for value in values)),
    )
scalars(
    "casts_of_intervals_and_constructed_types",
    """
    CAST(INTERVAL '1' DAY AS STRING)
    CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING)
    CAST(INTERVAL '1 02:03:04.567' DAY TO SECOND AS STRING)
    CAST(ARRAY[1, 2, CAST(NULL AS INT)] AS STRING)
    CAST(MAP['a', 1] AS STRING)
    CAST(ROW(1, 'a', TRUE) AS STRING)
    CAST(ROW(1, 'a') AS ROW<x BIGINT, y STRING>)
    CAST(ARRAY[1, 2] AS ARRAY<STRING>)
    CAST(ARRAY['1', '2'] AS ARRAY<INT>)
    CAST(MAP['a', 1] AS MAP<STRING, DOUBLE>)
    CAST(ROW(1, ROW(2, ARRAY['x'])) AS STRING)
    CAST(NULL AS INT)
    CAST(NULL AS ARRAY<INT>)
    TRY_CAST('x' AS INT)
    CAST(CAST(NULL AS ROW<a INT>) AS STRING)
    TYPEOF(1)
    TYPEOF('a')
    TYPEOF(1.50)
    TYPEOF(CAST(NULL AS TIMESTAMP(3)))
    TYPEOF(ARRAY[1])
    """,
)
