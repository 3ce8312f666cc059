# mypy: disable-error-code="import-not-found,import-untyped,misc,untyped-decorator"
"""What the page on system functions shows: each form in SQL and in the Table API, with its examples and close to them."""

from pyflink.table import DataTypes, expression, expressions
from tests.table.conformance.registry import BOTH, program, scalars, table
from tests.table.conformance.shapes import PROCESS, columns

NUMBERS = table(
    "a INT; d DOUBLE; m DECIMAL(8, 3); n INT; s STRING; b BOOLEAN",
    ("12", "42.324", "42.324", "NULL", "'foothebar'", "TRUE"),
    ("-7", "-0.5", "-1.999", "15", "' This is a test String. '", "FALSE"),
    ("0", "1.0", "0.001", "10", "''", "NULL"),
    ("NULL", "NULL", "NULL", "NULL", "NULL", "NULL"),
)

scalars(
    "documented_comparisons",
    """
    a = 12
    a <> 12
    a > n
    a >= n
    a < n
    a <= n
    a IS NULL
    a IS NOT NULL
    a IS DISTINCT FROM n
    a IS NOT DISTINCT FROM n
    1 IS DISTINCT FROM CAST(NULL AS INT)
    CAST(NULL AS INT) IS DISTINCT FROM CAST(NULL AS INT)
    1 IS NOT DISTINCT FROM CAST(NULL AS INT)
    CAST(NULL AS INT) IS NOT DISTINCT FROM CAST(NULL AS INT)
    12 BETWEEN 15 AND 12
    12 BETWEEN SYMMETRIC 15 AND 12
    12 BETWEEN ASYMMETRIC 15 AND 12
    12 BETWEEN 10 AND CAST(NULL AS INT)
    12 BETWEEN CAST(NULL AS INT) AND 10
    12 BETWEEN SYMMETRIC CAST(NULL AS INT) AND 12
    12 NOT BETWEEN 15 AND 12
    12 NOT BETWEEN SYMMETRIC 15 AND 12
    12 NOT BETWEEN CAST(NULL AS INT) AND 15
    12 NOT BETWEEN 15 AND CAST(NULL AS INT)
    12 NOT BETWEEN SYMMETRIC 12 AND CAST(NULL AS INT)
    a BETWEEN n AND 20
    a NOT BETWEEN SYMMETRIC n AND 0
    s LIKE '%the%'
    s NOT LIKE 'foo_'
    s LIKE 'foo!%' ESCAPE '!'
    s SIMILAR TO '(foo|bar)%'
    s NOT SIMILAR TO '[a-f]+%'
    4 IN (1, 2, 3)
    1 IN (1, 2, NULL)
    4 IN (1, 2, NULL)
    4 NOT IN (1, 2, 3)
    1 NOT IN (1, 2, NULL)
    4 NOT IN (1, 2, NULL)
    a IN (12, n)
    a NOT IN (n, 0)
    b OR CAST(NULL AS BOOLEAN)
    b AND CAST(NULL AS BOOLEAN)
    NOT b
    b IS FALSE
    b IS NOT FALSE
    b IS TRUE
    b IS NOT TRUE
    b IS UNKNOWN
    b IS NOT UNKNOWN
    """,
    NUMBERS,
    modes=BOTH,
)

scalars(
    "documented_arithmetic",
    """
    + a
    - a
    a + d
    a - m
    a * m
    a / 5
    d / a
    a % 5
    MOD(a, 5)
    POWER(d, 2)
    ABS(a)
    SQRT(ABS(d))
    LN(ABS(d))
    LOG10(ABS(d))
    LOG2(ABS(d))
    LOG(ABS(d))
    LOG(2, 8)
    EXP(d)
    CEIL(d)
    CEILING(m)
    FLOOR(m)
    SIN(d)
    SINH(d)
    COS(d)
    TAN(d)
    TANH(d)
    COT(d)
    ASIN(0.5)
    ACOS(0.5)
    ATAN(d)
    ATAN2(d, a)
    COSH(d)
    DEGREES(d)
    RADIANS(d)
    SIGN(m)
    ROUND(m, 1)
    ROUND(d, -1)
    PI()
    E()
    RAND() < 1
    RAND(5) < 1
    RAND_INTEGER(10) < 10
    RAND_INTEGER(3, 10) < 10
    CHAR_LENGTH(UUID())
    BIN(4)
    BIN(12)
    BIN(a)
    HEX(20)
    HEX(100)
    HEX('hello,world')
    HEX(s)
    TRUNCATE(m, 2)
    TRUNCATE(d)
    TRUNCATE(a, -1)
    """,
    NUMBERS,
    modes=BOTH,
)

scalars(
    "documented_texts",
    """
    s || '!'
    CHAR_LENGTH(s)
    CHARACTER_LENGTH(s)
    UPPER(s)
    LOWER(s)
    POSITION('the' IN s)
    TRIM(BOTH 'f' FROM s)
    TRIM(LEADING ' ' FROM s)
    TRIM(TRAILING FROM s)
    TRIM(s)
    LTRIM(' This is a test String.')
    RTRIM('This is a test String. ')
    BTRIM(s)
    REPEAT('This is a test String.', 2)
    REGEXP_REPLACE('foobar', 'oo|ar', '')
    OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6)
    OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6 FOR 2)
    SUBSTRING(s FROM 4)
    SUBSTRING(s FROM 4 FOR 3)
    REPLACE('hello world', 'world', 'flink')
    REPLACE('ababab', 'abab', 'z')
    REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)
    REGEXP_EXTRACT(s, 'foo(.*?)(bar)', 0)
    REGEXP_EXTRACT(s, 'foo(.*?)(bar)', 3)
    REGEXP_EXTRACT(s, 'foo(.*?)(bar)')
    INITCAP(s)
    CONCAT('AA', 'BB', 'CC')
    CONCAT('AA', s)
    CONCAT_WS('~', 'AA', CAST(NULL AS STRING), 'BB', '', 'CC')
    CONCAT_WS(s, 'AA', 'BB')
    LPAD('hi', 4, '??')
    LPAD('hi', 1, '??')
    RPAD('hi', 4, '??')
    RPAD('hi', 1, '??')
    FROM_BASE64('aGVsbG8gd29ybGQ=')
    TO_BASE64('hello world')
    ASCII('abc')
    ASCII(CAST(NULL AS VARCHAR))
    CHR(97)
    CHR(353)
    DECODE(ENCODE(s, 'UTF-16LE'), 'UTF-16LE')
    ENCODE(s, 'US-ASCII')
    INSTR(s, 'o')
    LEFT(s, 3)
    LEFT(s, -1)
    RIGHT(s, 3)
    RIGHT(s, -1)
    LOCATE('o', s)
    LOCATE('o', s, 3)
    PARSE_URL('http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1', 'HOST')
    PARSE_URL('http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1', 'QUERY', 'k1')
    PARSE_URL('http://user@facebook.com:80/path1/p.php?k1=v1#Ref1', 'USERINFO')
    PARSE_URL('http://user@facebook.com:80/path1/p.php?k1=v1#Ref1', 'AUTHORITY')
    PARSE_URL('http://user@facebook.com:80/path1/p.php?k1=v1#Ref1', 'FILE')
    PARSE_URL('http://user@facebook.com:80/path1/p.php?k1=v1#Ref1', 'REF')
    REGEXP(s, 'o+t')
    REVERSE(s)
    SPLIT_INDEX(s, 't', 0)
    SPLIT_INDEX(s, 't', -1)
    STR_TO_MAP('k1=v1,k2=v2')
    STR_TO_MAP('k1:v1;k2: v2', ';', ':')
    STR_TO_MAP('k1$$v1|k2$$ v2', '\\|', '\\$\\$')
    SUBSTR(s, 2)
    SUBSTR(s, 2, 4)
    MD5(s)
    SHA1(s)
    SHA224(s)
    SHA256(s)
    SHA384(s)
    SHA512(s)
    SHA2(s, 224)
    IS_ALPHA(s)
    IS_DECIMAL('12.5')
    IS_DECIMAL(s)
    IS_DIGIT('12')
    STARTSWITH(s, 'foo')
    ENDSWITH(s, 'bar')
    SPLIT(s, 'o')
    TRANSLATE(s, 'fo', 'be')
    REGEXP_COUNT(s, 'o')
    REGEXP_EXTRACT_ALL(s, '(o)(.)', 2)
    REGEXP_INSTR(s, 't')
    REGEXP_SUBSTR(s, 't.')
    URL_ENCODE(s)
    URL_DECODE('a%20b+c')
    UNHEX('464C494E4B')
    ELT(2, 'a', s)
    PRINTF('%d %s', a, s)
    """,
    NUMBERS,
    modes=BOTH,
)

scalars(
    "documented_times",
    """
    DATE '2006-06-05'
    TIME '12:44:31'
    TIMESTAMP '1994-09-27 13:14:15.123'
    CAST(INTERVAL '10 00:00:00.004' DAY TO SECOND AS STRING)
    CAST(INTERVAL '10' DAY AS STRING)
    CAST(INTERVAL '2-10' YEAR TO MONTH AS STRING)
    EXTRACT(DAY FROM DATE '2006-06-05')
    EXTRACT(DOY FROM DATE '1994-09-27')
    EXTRACT(DOW FROM DATE '1994-09-27')
    YEAR(DATE '1994-09-27')
    QUARTER(DATE '1994-09-27')
    MONTH(DATE '1994-09-27')
    WEEK(DATE '1994-09-27')
    DAYOFYEAR(DATE '1994-09-27')
    DAYOFMONTH(DATE '1994-09-27')
    DAYOFWEEK(DATE '1994-09-27')
    HOUR(TIMESTAMP '1994-09-27 13:14:15')
    MINUTE(TIMESTAMP '1994-09-27 13:14:15')
    SECOND(TIMESTAMP '1994-09-27 13:14:15')
    FLOOR(TIME '12:44:31' TO MINUTE)
    CEIL(TIME '12:44:31' TO MINUTE)
    (TIME '2:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '3:30:00', INTERVAL '2' HOUR)
    (TIME '9:00:00', TIME '10:00:00') OVERLAPS (TIME '10:15:00', INTERVAL '3' HOUR)
    (TIME '02:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '03:30:00', INTERVAL '2' HOUR)
    (DATE '2020-01-01', DATE '2020-02-01') OVERLAPS (DATE '2020-01-15', INTERVAL '3' DAY)
    DATE_FORMAT('1994-09-27 13:14:15', 'yyyy/MM/dd')
    DATE_FORMAT(TIMESTAMP '1994-09-27 13:14:15', 'HH:mm')
    TIMESTAMPADD(WEEK, 1, DATE '2003-01-02')
    TIMESTAMPADD(HOUR, -3, TIMESTAMP '2003-01-02 01:00:00')
    TIMESTAMPDIFF(DAY, TIMESTAMP '2003-01-02 10:00:00', TIMESTAMP '2003-01-03 10:00:00')
    TIMESTAMPDIFF(MONTH, DATE '2003-01-31', DATE '2003-02-28')
    CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')
    CONVERT_TZ('1970-01-01 00:00:00', 'GMT-08:00', 'UTC')
    FROM_UNIXTIME(44)
    FROM_UNIXTIME(44, 'HH:mm:ss')
    UNIX_TIMESTAMP() > 1500000000
    UNIX_TIMESTAMP('1970-01-01 08:00:01')
    UNIX_TIMESTAMP('1970-01-01 08:00:01.001', 'yyyy-MM-dd HH:mm:ss.SSS')
    UNIX_TIMESTAMP('1970-01-01 08:00:01.001 +0800', 'yyyy-MM-dd HH:mm:ss.SSS X')
    UNIX_TIMESTAMP('1970-01-01 08:00:01.001 +0800', 'yyyy-MM-dd HH:mm:ss.SSS')
    UNIX_TIMESTAMP('1970-01-01 08:00:01.001', 'yyyy-MM-dd HH:mm:ss.SSS X')
    TO_DATE('2020-02-03')
    TO_DATE('2020/02/03', 'yyyy/MM/dd')
    CAST(TO_TIMESTAMP_LTZ(100, 0) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(100, 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1234567890123, 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2023-01-01 00:00:00') AS STRING)
    CAST(TO_TIMESTAMP_LTZ('01/02/2023 10:11', 'dd/MM/yyyy HH:mm') AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2023-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo') AS STRING)
    TO_TIMESTAMP('2020-02-03 10:11:12')
    TO_TIMESTAMP('2020/02/03', 'yyyy/MM/dd')
    CURRENT_DATE = LOCALTIMESTAMP
    CHAR_LENGTH(CAST(LOCALTIME AS STRING))
    CHAR_LENGTH(CAST(CURRENT_TIME AS STRING))
    NOW() >= CURRENT_TIMESTAMP
    CURRENT_ROW_TIMESTAMP() >= TO_TIMESTAMP_LTZ(0, 0)
    CURRENT_DATABASE()
    """,
    modes=BOTH,
    config={"table.local-time-zone": "Europe/Berlin"},
)

scalars(
    "documented_conditions_and_collections",
    """
    CASE a WHEN 12, -7 THEN 'x' WHEN 0 THEN 'y' ELSE 'z' END
    CASE WHEN a > 5 THEN 1 WHEN a < 0 THEN 2 END
    NULLIF(5, 5)
    NULLIF(5, 0)
    NULLIF(a, n)
    COALESCE(CAST(NULL AS STRING), 'default')
    COALESCE(s, 'default')
    COALESCE(a, n, -1)
    COALESCE(NULL, 'default')
    IF(5 > 3, 5, 3)
    IF(b, a, n)
    IFNULL(a, 5)
    GREATEST(a, n)
    LEAST(a, n, 3)
    CAST('42' AS INT)
    CAST(CAST(NULL AS STRING) AS INT)
    TRY_CAST('42' AS INT)
    TRY_CAST(CAST(NULL AS STRING) AS INT)
    TRY_CAST('non-number' AS INT)
    COALESCE(TRY_CAST('non-number' AS INT), 0)
    TYPEOF(a)
    TYPEOF(m, TRUE)
    TYPEOF(ROW(a, s))
    CARDINALITY(ARRAY[a, n])
    ARRAY[a, n][2]
    ELEMENT(ARRAY[a])
    CARDINALITY(MAP['x', a])
    MAP['x', a, 'y', n]['y']
    ARRAY_CONTAINS(ARRAY[a, n], 12)
    ARRAY_CONTAINS(ARRAY[a, n], CAST(NULL AS INT))
    ARRAY_DISTINCT(ARRAY[a, n, a])
    ARRAY_POSITION(ARRAY[a, n], 10)
    ARRAY_REMOVE(ARRAY[a, n], 10)
    ARRAY_REVERSE(ARRAY[a, n])
    ARRAY_APPEND(ARRAY[a], n)
    ARRAY_PREPEND(ARRAY[a], n)
    ARRAY_CONCAT(ARRAY[a], ARRAY[n])
    ARRAY_UNION(ARRAY[a], ARRAY[n, 12])
    ARRAY_EXCEPT(ARRAY[a, 1], ARRAY[n, 12])
    ARRAY_INTERSECT(ARRAY[a, 1], ARRAY[n, 12])
    ARRAY_JOIN(ARRAY['a', s], '-')
    ARRAY_JOIN(ARRAY['a', s], '-', '?')
    ARRAY_MAX(ARRAY[a, n])
    ARRAY_MIN(ARRAY[a, n])
    ARRAY_SLICE(ARRAY[a, n, 1, 2], 2)
    ARRAY_SLICE(ARRAY[a, n, 1, 2], -3, -2)
    ARRAY_SORT(ARRAY[3, a, n])
    ARRAY_SORT(ARRAY[3, a, n], FALSE)
    ARRAY_SORT(ARRAY[3, a, n], FALSE, FALSE)
    MAP_KEYS(MAP['x', a])
    MAP_VALUES(MAP['x', a])
    MAP_ENTRIES(MAP['x', a])
    MAP_UNION(MAP['x', a], MAP['x', 1, 'y', n])
    MAP_FROM_ARRAYS(ARRAY['x', 'y'], ARRAY[a, n])
    (a, s)
    ROW(a, s)
    """,
    NUMBERS,
    modes=BOTH,
)

scalars(
    "documented_json",
    r"""
    '1' IS JSON
    '[]' IS JSON
    '{}' IS JSON
    '"abc"' IS JSON
    'abc' IS JSON
    CAST(NULL AS STRING) IS JSON
    '1' IS JSON SCALAR
    '1' IS JSON ARRAY
    '1' IS JSON OBJECT
    '{}' IS JSON SCALAR
    '{}' IS JSON ARRAY
    '{}' IS JSON OBJECT
    JSON_EXISTS('{"a": true}', '$.a')
    JSON_EXISTS('{"a": true}', '$.b')
    JSON_EXISTS('{"a": [{ "b": 1 }]}', '$.a[0].b')
    JSON_EXISTS('{"a": true}', 'strict $.b' TRUE ON ERROR)
    JSON_EXISTS('{"a": true}', 'strict $.b' FALSE ON ERROR)
    JSON_STRING(CAST(NULL AS INT))
    JSON_STRING(1)
    JSON_STRING(TRUE)
    JSON_STRING('Hello, World!')
    JSON_STRING(ARRAY[1, 2])
    JSON_VALUE('{"a": true}', '$.a')
    JSON_VALUE('{"a": true}', '$.a' RETURNING BOOLEAN)
    JSON_VALUE('{"a": true}', 'lax $.b' DEFAULT FALSE ON EMPTY)
    JSON_VALUE('{"a": true}', 'strict $.b' DEFAULT FALSE ON ERROR)
    JSON_VALUE('{"a.b": [0.998,0.996]}','$.["a.b"][0]' RETURNING DOUBLE)
    JSON_VALUE('{"contains blank": "right"}', 'strict $.[''contains blank'']' NULL ON EMPTY DEFAULT 'wrong' ON ERROR)
    JSON_VALUE('{"a b": "true"}', '$.[''a b'']')
    JSON_QUERY('{ "a": { "b": 1 } }', '$.a')
    JSON_QUERY('[1, 2]', '$')
    JSON_QUERY(CAST(NULL AS STRING), '$')
    JSON_QUERY('{"a":[{"c":"c1"},{"c":"c2"}]}', 'lax $.a[*].c')
    JSON_QUERY('{"a":[{"c":"c1"},{"c":"c2"}]}', 'lax $.a[*].c' RETURNING ARRAY<STRING>)
    JSON_QUERY('{}', '$' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('[1, 2]', '$' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('[1, 2]', '$' WITH UNCONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('1', '$')
    JSON_QUERY('1', '$' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY(1, '$')
    JSON_QUERY('{}', 'lax $.invalid' EMPTY OBJECT ON EMPTY)
    JSON_QUERY('{}', 'strict $.invalid' EMPTY ARRAY ON ERROR)
    JSON_OBJECT()
    JSON_OBJECT('K1' VALUE 'V1', 'K2' VALUE 'V2')
    JSON_OBJECT('orderNo' VALUE id)
    JSON_OBJECT(KEY 'K1' VALUE CAST(NULL AS STRING) NULL ON NULL)
    JSON_OBJECT(KEY 'K1' VALUE CAST(NULL AS STRING) ABSENT ON NULL)
    JSON_OBJECT(KEY 'K1' VALUE JSON_OBJECT(KEY 'K2' VALUE 'V'))
    JSON_ARRAY()
    JSON_ARRAY(1, '2')
    JSON_ARRAY(id)
    JSON_ARRAY(CAST(NULL AS STRING) NULL ON NULL)
    JSON_ARRAY(CAST(NULL AS STRING) ABSENT ON NULL)
    JSON_ARRAY(JSON_ARRAY(1))
    JSON_QUOTE('a"b')
    JSON_UNQUOTE('"a\"b"')
    JSON_LENGTH('{"a": 1, "b": [1, 2]}')
    JSON_LENGTH('{"a": 1, "b": [1, 2]}', '$.b')
    """,
    modes=BOTH,
)


def _results(t_env, lines, count=3):
    """Return the values of expressions, one a line, over some of three rows, the last of which has nothing but NULL.

    PyFlink cannot collect arrays, maps and rows with NULL in them.
    """
    fields = [
        DataTypes.FIELD("i", DataTypes.INT()),
        DataTypes.FIELD("a", DataTypes.INT()),
        DataTypes.FIELD("d", DataTypes.DOUBLE()),
        DataTypes.FIELD("s", DataTypes.STRING()),
        DataTypes.FIELD("b", DataTypes.BOOLEAN()),
    ]
    rows = [(1, 12, 42.324, "foothebar", True), (2, -7, -0.5, " Test ", False), (3, None, None, None, None)]
    source = t_env.from_elements(rows[:count], DataTypes.ROW(fields))
    known = {**vars(expressions), **vars(expression), "DataTypes": DataTypes}
    known |= {name: expressions.col(name) for name in "adsb"}
    known["numbers"] = expressions.array(known["a"], 3)
    texts = [line.strip() for line in lines.splitlines() if line.strip()]
    thunks = {text: lambda text=text: eval(text, known) for text in texts}  # noqa: S307 - the texts of this module
    return columns(source, expressions.col("i"), thunks)


@program(3, modes=BOTH, config=PROCESS)
def documented_numbers_of_the_table_api(env, t_env):
    return _results(
        t_env,
        """
        (a == 12)
        a != 12
        a.is_null
        a.is_not_null
        a.between(0, 12)
        a.not_between(0, 12)
        a.in_(1, 12)
        b | null_of(DataTypes.BOOLEAN())
        b & null_of(DataTypes.BOOLEAN())
        not_(b)
        b.is_false
        b.is_not_false
        b.is_true
        b.is_not_true
        -a
        a + d
        a - 1
        a * 2
        a / 5
        a % 5
        d**2
        a.abs
        d.abs.sqrt
        d.abs.ln
        d.abs.log10
        d.abs.log2
        d.abs.log()
        lit(8).log(2)
        log(8)
        log(2, 8)
        d.exp
        d.ceil()
        d.floor()
        d.sin
        d.sinh
        d.cos
        d.cosh
        d.tan
        d.tanh
        d.cot
        lit(0.5).asin
        lit(0.5).acos
        d.atan
        d.degrees
        d.radians
        d.sign
        d.round(1)
        pi() + e()
        a.bin
        a.hex
        lit(42.324).truncate(2)
        lit(42.324).truncate()
        if_then_else(a > 5, "A", "B")
        b.then("A", "B")
        coalesce(a, -1)
        a.if_null(5)
        a.cast(DataTypes.STRING())
        col("s").try_cast(DataTypes.INT())
        call("TYPEOF", a)
        call("TYPEOF", a, True)
        call("GREATEST", a, 3)
        call_sql("a + 1")
        current_database()
        """,
    )


@program(3, modes=BOTH, config=PROCESS)
def documented_texts_of_the_table_api(env, t_env):
    return _results(
        t_env,
        """
        s + "!"
        s.char_length
        s.upper_case
        s.lower_case
        lit("the").position(s)
        s.trim()
        s.trim_leading()
        s.trim_trailing("r")
        s.ltrim
        s.rtrim
        s.btrim()
        s.btrim("f")
        s.repeat(2)
        s.regexp_replace("oo|ar", "")
        lit("xxxxxtest").overlay("xxxx", 6)
        lit("xxxxxtest").overlay("xxxx", 6, 2)
        s.substring(4)
        s.substring(4, 3)
        s.substr(2)
        s.replace("the", "a")
        s.regexp_extract("foo(.*?)(bar)", 2)
        s.regexp_extract("foo(.*?)(bar)")
        s.init_cap
        concat("AA", s)
        concat_ws("~", "AA", s, "")
        s.lpad(4, "??")
        s.rpad(12, "??")
        s.to_base64
        s.to_base64.from_base64
        s.ascii
        a.abs.chr
        s.encode("UTF-8").decode("UTF-8")
        s.instr("o")
        s.left(3)
        s.right(3)
        lit("o").locate(s)
        lit("o").locate(s, 3)
        lit("http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1").parse_url("QUERY", "k1")
        s.regexp("o+t")
        s.reverse
        s.split_index("t", 0)
        lit("k1=v1,k2=v2").str_to_map()
        lit("k1:v1;k2: v2").str_to_map(";", ":")
        s.like("%the%")
        s.similar("foo%")
        s.md5
        s.sha1
        s.sha224
        s.sha256
        s.sha384
        s.sha512
        s.sha2(256)
        s.hex
        s.starts_with("foo")
        s.ends_with("bar")
        s.split("o")
        s.translate("fo", "be")
        s.regexp_count("o")
        s.regexp_extract_all("(o)(.)", 2)
        s.regexp_instr("t")
        s.regexp_substr("t.")
        s.url_encode()
        lit("a%20b+c").url_decode()
        lit("464C494E4B").unhex()
        lit(2).elt("a", s)
        s.is_json()
        call_sql("UPPER(s)").substring(3)
        """,
    )


@program(3, modes=BOTH, config=PROCESS)
def documented_times_and_collections_of_the_table_api(env, t_env):
    return _results(
        t_env,
        """
        lit("2020-02-03").to_date
        lit("12:44:31").to_time
        lit("2020-02-03 01:02:03").to_timestamp
        lit("2020-02-03").to_date + lit(2).quarters
        lit("2020-02-03").to_date + lit(1).year
        lit("2020-02-03").to_date + lit(2).weeks
        lit("2020-02-03 01:02:03").to_timestamp + lit(3).hours
        lit("2020-02-03 01:02:03").to_timestamp - lit(3).minutes
        lit("2020-02-03 01:02:03").to_timestamp + lit(1500).millis
        lit("2006-06-05").to_date.extract(TimeIntervalUnit.DAY)
        lit("12:44:31").to_time.floor(TimeIntervalUnit.MINUTE)
        lit("12:44:31").to_time.ceil(TimeIntervalUnit.MINUTE)
        temporal_overlaps(lit("02:55:00").to_time, lit(1).hour, lit("03:30:00").to_time, lit(2).hours)
        date_format(lit("2020-02-03 01:02:03"), "yyyy/MM")
        timestamp_diff(TimePointUnit.DAY, lit("2003-01-02").to_date, lit("2003-01-03").to_date)
        convert_tz("1970-01-01 00:00:00", "UTC", "America/Los_Angeles")
        from_unixtime(44)
        from_unixtime(44, "HH:mm")
        unix_timestamp("1970-01-01 08:00:01")
        to_date("2020/02/03", "yyyy/MM/dd")
        to_timestamp("2020-02-03 10:11:12")
        to_timestamp_ltz(100, 3).cast(DataTypes.STRING())
        numbers.cardinality
        numbers.at(2)
        array(a).element
        map_("x", a, "y", 1).at("x")
        map_("x", a).cardinality
        numbers.array_contains(3)
        array(a, 3, 3).array_distinct()
        numbers.array_position(3)
        numbers.array_remove(3)
        numbers.array_reverse()
        numbers.array_append(4)
        numbers.array_prepend(4)
        numbers.array_concat(array(1))
        numbers.array_union(array(1, 3))
        numbers.array_except(array(1, 3))
        numbers.array_intersect(array(1, 3))
        array("a", s).array_join("-")
        array("a", s).array_join("-", "?")
        numbers.array_max()
        numbers.array_min()
        numbers.array_slice(1, 1)
        numbers.array_sort()
        numbers.array_sort(False, True)
        map_("x", a).map_keys
        map_("x", a).map_values
        map_("x", a).map_entries
        map_("x", a).map_union(map_("y", 1))
        map_from_arrays(array("x", "y"), array(a, 1))
        row(a, s)
        row(a, s).get(1)
        json_string(a)
        json_object(JsonOnNull.NULL, "K1", s, "K2", 1)
        json_object(JsonOnNull.ABSENT, "K1", s)
        json_array(JsonOnNull.NULL, a, "x")
        json_array(JsonOnNull.ABSENT, a)
        lit('{"a": true}').json_exists("$.a")
        lit('{"a": true}').json_value("$.a")
        lit('{"a": true}').json_value("$.a", DataTypes.BOOLEAN())
        lit('{"a": [1]}').json_query("$.a")
        lit('a"b').json_quote()
        lit('"a"').json_unquote()
        """,
        2,
    )
