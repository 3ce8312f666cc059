"""Arithmetic, comparisons, logic, conditions."""

from tests.table.conformance.registry import scalars, table

INTEGERS = table(
    "a INT; b INT; t TINYINT; s SMALLINT; l BIGINT",
    ("7", "2", "7", "300", "10000000000"),
    ("-7", "2", "-128", "-32768", "-9223372036854775807"),
    ("2147483647", "1", "127", "32767", "9223372036854775807"),
    ("NULL", "3", "NULL", "NULL", "NULL"),
    ("5", "NULL", "0", "1", "0"),
)
scalars(
    "integer_arithmetic",
    """
    a + b
    a - b
    a * b
    a / b
    a % b
    MOD(a, b)
    -a
    +a
    a + 1
    a * a
    a / 2
    a / 2.0
    a + 1.5
    t + t
    t + s
    s + a
    s * s
    a + l
    l + 1
    l * 2
    t - CAST(1 AS TINYINT)
    a + CAST(0.5 AS DOUBLE)
    a + CAST(0.5 AS FLOAT)
    l + CAST(0.5 AS FLOAT)
    ABS(a)
    ABS(t)
    SIGN(a)
    POWER(a, 2)
    SQRT(ABS(b))
    a = b
    a <> b
    a < b
    a >= b
    a BETWEEN 0 AND 10
    a NOT BETWEEN 0 AND 10
    a IN (5, 7)
    a NOT IN (5, 7)
    a IN (5, NULL)
    GREATEST(a, b)
    LEAST(a, b)
    GREATEST(a, 0, 3)
    """,
    INTEGERS,
)
scalars(
    "integer_division_by_zero",
    "1 / (id - 1)\n1 % (id - 1)\nMOD(5, id - 1)\n1.0 / (id - 1)\nCAST(1 AS DOUBLE) / (id - 1)\n1 / 0",
)

DECIMALS = table(
    "d DECIMAL(10, 2); e DECIMAL(5, 3); i INT; f DOUBLE; r FLOAT; w DECIMAL(38, 10)",
    ("12.34", "1.005", "3", "0.1", "0.1", "'1234567890123456789012345678.1234567891'"),
    ("-12.35", "-1.005", "-3", "-2.5", "-2.5", "'-0.0000000001'"),
    ("0.00", "0.500", "0", "1e300", "1e30", "'0'"),
    ("NULL", "NULL", "NULL", "NULL", "NULL", "CAST(NULL AS STRING)"),
    ("99999999.99", "99.999", "2147483647", "1e-7", "16777217", "'1'"),
)
scalars(
    "decimal_and_floating_arithmetic",
    """
    d + e
    d - e
    d * e
    d / e
    d % e
    d + i
    d * i
    d / 3
    i / d
    w * 2
    w + w
    w / 3
    w * w
    d + f
    d * f
    d + r
    f + r
    f * 3
    r * 3
    r * r
    f / 3
    r / 3
    -d
    -f
    ABS(d)
    ABS(f)
    SIGN(d)
    SIGN(f)
    FLOOR(d)
    CEIL(d)
    CEILING(f)
    FLOOR(f)
    FLOOR(i)
    ROUND(d)
    ROUND(d, 1)
    ROUND(e, 2)
    ROUND(f)
    ROUND(f, 1)
    ROUND(i, -1)
    ROUND(d, -1)
    TRUNCATE(d, 1)
    TRUNCATE(d)
    TRUNCATE(f, 0)
    d = e
    d > f
    d > i
    f > r
    r = f
    d = 12.34
    d IN (12.34, 0)
    CAST(d AS INT)
    CAST(f AS INT)
    CAST(e AS DECIMAL(4, 1))
    CAST(e AS DECIMAL(3, 0))
    CAST(d AS STRING)
    CAST(e AS STRING)
    CAST(f AS STRING)
    CAST(r AS STRING)
    CAST(w AS STRING)
    CAST(d AS DOUBLE)
    CAST(f AS FLOAT)
    CAST(f AS DECIMAL(10, 3))
    CAST(r AS DOUBLE)
    """,
    DECIMALS,
)
scalars(
    "types_of_decimal_literals",
    """
    1.0
    1.50
    1e0
    123456789012
    12345678901234567890
    0.1 + 0.2
    1.5 * 1.5
    1.0 / 3
    10 / 4
    10.0 / 4.0
    1.5 + 1
    CAST(1 AS DECIMAL(20, 5)) * CAST(1 AS DECIMAL(20, 5))
    CAST(1 AS DECIMAL(38, 0)) / CAST(3 AS DECIMAL(38, 0))
    CAST(1 AS DECIMAL(38, 18)) * CAST(3 AS DECIMAL(38, 18))
    CAST(1 AS DECIMAL(10, 2)) + CAST(1 AS BIGINT)
    CAST(1 AS DECIMAL(10, 2)) % 3
    -0.0
    1e400
    PI()
    E()
    """,
)
scalars(
    "mathematical_functions",
    """
    EXP(f)
    LN(ABS(f) + 1)
    LOG10(ABS(f) + 1)
    LOG2(ABS(f) + 1)
    LOG(ABS(f) + 1)
    LOG(2, 8)
    SIN(f)
    COS(f)
    TAN(f)
    COT(f + 1)
    ASIN(f / 10)
    ACOS(f / 10)
    ATAN(f)
    ATAN2(f, 2)
    SINH(f)
    COSH(f)
    TANH(f)
    DEGREES(f)
    RADIANS(f)
    POWER(f, 2)
    POWER(2, f)
    POWER(d, 2)
    SQRT(f + 10)
    SQRT(-1)
    LN(0)
    ROUND(f, 2)
    TRUNCATE(f, 2)
    FLOOR(f)
    CEIL(f)
    SIGN(f)
    BIN(n)
    HEX(n)
    HEX('hello')
    MOD(n, 3)
    n % -3
    UNHEX('68656C6C6F')
    UNHEX('zz')
    CONV('ff', 16, 10)
    """,
    table(
        "f DOUBLE; d DECIMAL(8, 3); n INT",
        ("1.0", "1.5", "10"),
        ("-0.5", "-2.25", "-10"),
        ("0.0", "0", "0"),
        ("NULL", "NULL", "NULL"),
        ("3.14159", "100.001", "255"),
    ),
)
scalars(
    "logic_of_three_values",
    """
    p AND q
    p OR q
    NOT p
    p = q
    p <> q
    p IS TRUE
    p IS NOT TRUE
    p IS FALSE
    p IS NOT FALSE
    p IS UNKNOWN
    p IS NOT UNKNOWN
    p IS NULL
    p IS NOT NULL
    p IS DISTINCT FROM q
    p IS NOT DISTINCT FROM q
    p AND NOT q OR q AND NOT p
    CASE WHEN p THEN 1 WHEN q THEN 2 ELSE 3 END
    CASE WHEN p THEN 1 END
    CASE p WHEN TRUE THEN 'yes' WHEN FALSE THEN 'no' END
    COALESCE(p, q)
    COALESCE(p, q, TRUE)
    NULLIF(p, q)
    IF(p, 'a', 'b')
    IF(p, 1, CAST(NULL AS INT))
    IFNULL(p, FALSE)
    CAST(p AS STRING)
    CAST(p AS INT)
    p AND NULL
    p OR NULL
    p IN (TRUE)
    NOT p IN (q, TRUE)
    """,
    table(
        "p BOOLEAN; q BOOLEAN",
        *((p, q) for p in ("TRUE", "FALSE", "NULL") for q in ("TRUE", "FALSE", "NULL")),
    ),
)
scalars(
    "conditions_and_nulls",
    """
    CASE WHEN a > 1 THEN 'big' WHEN a IS NULL THEN 'none' ELSE 'small' END
    CASE a WHEN 1 THEN 'one' WHEN 2 THEN 'two' END
    CASE WHEN a > 1 THEN 1 ELSE 2.5 END
    CASE WHEN a > 1 THEN 1 ELSE CAST(2.5 AS DOUBLE) END
    CASE WHEN a > 1 THEN 'abc' ELSE 'z' END
    CASE WHEN a > 1 THEN s ELSE 'z' END
    COALESCE(a, b)
    COALESCE(a, b, 0)
    COALESCE(a, 1.5)
    COALESCE(s, 'none')
    COALESCE(s, 'none') || '!'
    NULLIF(a, b)
    NULLIF(a, 1)
    NULLIF(s, 'x')
    NULLIF(1, 1)
    IF(a > b, a, b)
    IF(a > b, 'x', 'yz')
    IF(a > b, 1, 2.5)
    IFNULL(a, 0)
    IFNULL(a, b)
    IFNULL(s, 'none')
    a IS NULL
    a IS NOT NULL
    a = NULL
    a IS DISTINCT FROM b
    a IS NOT DISTINCT FROM b
    GREATEST(a, b)
    LEAST(a, b, 1)
    s IS NULL OR s = 'x'
    IS_ALPHA(s)
    IS_DIGIT(s)
    IS_DECIMAL(s)
    """,
    table(
        "a INT; b INT; s STRING",
        ("1", "1", "'x'"),
        ("2", "1", "''"),
        ("NULL", "1", "NULL"),
        ("NULL", "NULL", "'12'"),
        ("3", "NULL", "'1.5'"),
    ),
)
