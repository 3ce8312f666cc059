"""Strings, hashes, JSON."""

from tests.table.conformance.registry import scalars, table

STRINGS = table(
    "s STRING; n INT; p STRING",
    ("'Hello World'", "3", "'o'"),
    ("''", "0", "''"),
    ("'  padded  '", "-2", "' '"),
    ("NULL", "NULL", "NULL"),
    ("'äöü€𝄞x'", "2", "'ö'"),
    ("'a,b,,c'", "100", "','"),
)
scalars(
    "string_functions",
    """
    s || p
    s || n
    CHAR_LENGTH(s)
    CHARACTER_LENGTH(s)
    UPPER(s)
    LOWER(s)
    INITCAP(s)
    SUBSTRING(s FROM 2)
    SUBSTRING(s FROM 2 FOR 3)
    SUBSTRING(s, 2, 3)
    SUBSTRING(s, 0, 2)
    SUBSTRING(s, -3)
    SUBSTRING(s, -3, 2)
    SUBSTRING(s, 1, n)
    SUBSTR(s, 3)
    SUBSTR(s, 3, 2)
    LEFT(s, 2)
    RIGHT(s, 2)
    LEFT(s, n)
    RIGHT(s, n)
    POSITION(p IN s)
    LOCATE(p, s)
    LOCATE(p, s, 6)
    INSTR(s, p)
    TRIM(s)
    TRIM(BOTH ' ' FROM s)
    TRIM(LEADING ' ' FROM s)
    TRIM(TRAILING ' ' FROM s)
    TRIM(BOTH 'H' FROM s)
    LTRIM(s)
    RTRIM(s)
    BTRIM(s)
    BTRIM(s, 'Hd')
    REPLACE(s, p, '_')
    REPLACE(s, 'l', '')
    TRANSLATE(s, 'lo', 'x')
    REVERSE(s)
    REPEAT(s, 2)
    REPEAT(s, n)
    LPAD(s, 5, '*')
    RPAD(s, 5, '*')
    LPAD(s, 14, 'ab')
    RPAD(s, 14, 'ab')
    LPAD(s, n, '')
    LPAD(s, -1, 'x')
    OVERLAY(s PLACING 'XY' FROM 2)
    OVERLAY(s PLACING 'XY' FROM 2 FOR 4)
    OVERLAY(s PLACING 'XY' FROM 50)
    CONCAT(s, p)
    CONCAT(s, '-', p, '-')
    CONCAT_WS(',', s, p)
    CONCAT_WS(p, 'a', CAST(NULL AS STRING), 'b')
    SPLIT_INDEX(s, ',', 1)
    SPLIT_INDEX(s, ',', 2)
    SPLIT_INDEX(s, ',', -1)
    SPLIT_INDEX(s, ',', 10)
    SPLIT_INDEX(s, p, 0)
    SPLIT(s, ',')
    STR_TO_MAP('a=1,b=2')
    STR_TO_MAP('a:1;b:2', ';', ':')
    ASCII(s)
    CHR(97)
    CHR(n + 64)
    ELT(2, s, p)
    STARTSWITH(s, 'He')
    ENDSWITH(s, p)
    TO_BASE64(s)
    FROM_BASE64(TO_BASE64(s))
    FROM_BASE64('aGVsbG8=')
    ENCODE(s, 'UTF-8')
    DECODE(ENCODE(s, 'UTF-8'), 'UTF-8')
    URL_ENCODE(s)
    URL_DECODE('a%20b%2C')
    PARSE_URL('http://u@h.org:80/p/a?k=v&x=1#r', 'HOST')
    PARSE_URL('http://u@h.org:80/p/a?k=v&x=1#r', 'QUERY', 'k')
    PRINTF('%s has %d', s, n)
    s < p
    s >= 'a'
    s = ''
    s <> p
    s IN ('', 'a,b,,c')
    s BETWEEN 'A' AND 'b'
    CHAR_LENGTH(s) + n
    UPPER(TRIM(s)) || '!'
    """,
    STRINGS,
)
scalars(
    "regular_expressions",
    r"""
    REGEXP(s, '[a-z]+')
    REGEXP(s, '^\d+$')
    REGEXP(s, '(')
    REGEXP_EXTRACT(s, '([a-z]+)(\d+)', 0)
    REGEXP_EXTRACT(s, '([a-z]+)(\d+)', 1)
    REGEXP_EXTRACT(s, '([a-z]+)(\d+)', 2)
    REGEXP_EXTRACT(s, '([a-z]+)(\d+)')
    REGEXP_EXTRACT(s, '([a-z]+)(\d+)', 5)
    REGEXP_REPLACE(s, '\d', '#')
    REGEXP_REPLACE(s, '([a-z]+)', '<$1>')
    REGEXP_REPLACE(s, '(', '')
    REGEXP_COUNT(s, '\d')
    REGEXP_INSTR(s, '\d')
    REGEXP_SUBSTR(s, '\d+')
    REGEXP_EXTRACT_ALL(s, '(\d)')
    s SIMILAR TO '[a-z]+[0-9]+'
    s SIMILAR TO '(abc|xyz)%'
    s NOT SIMILAR TO '%[0-9]'
    s LIKE 'a%'
    s LIKE '%1%'
    s LIKE '_b%'
    s LIKE ''
    s NOT LIKE '%2_'
    s LIKE '%\_%'
    s LIKE '%!_%' ESCAPE '!'
    s LIKE 'ABC%'
    s LIKE s
    s LIKE NULL
    s LIKE '%.%'
    s LIKE 'a'
    """,
    table(
        "s STRING",
        ("'abc123'",),
        ("''",),
        ("NULL",),
        ("'a_b.c'",),
        ("'xyz'",),
        ("'12ab34'",),
        ("'line' || U&'\\000A' || 'two'",),
    ),
)
scalars(
    "char_and_varchar_types",
    """
    'a'
    ''
    'abc' || 'de'
    CAST('abcdef' AS CHAR(3))
    CAST('ab' AS CHAR(4))
    CAST('abcdef' AS VARCHAR(3))
    CAST('ab' AS VARCHAR(4))
    CAST(12345 AS VARCHAR(3))
    CAST(12345 AS CHAR(3))
    CAST('ab' AS CHAR(4)) || '!'
    CAST('ab' AS CHAR(4)) = 'ab'
    CHAR_LENGTH(CAST('ab' AS CHAR(4)))
    UPPER('a')
    SUBSTRING('abc', 2)
    TRIM('a ')
    REPLACE('abc', 'b', 'x')
    CONCAT('a', 'b')
    COALESCE('a', 'bc')
    CASE WHEN TRUE THEN 'a' ELSE 'bcd' END
    x'4142'
    CAST('ab' AS BYTES)
    CAST('ab' AS BINARY(3))
    CAST('abcd' AS VARBINARY(2))
    CAST(x'6162' AS STRING)
    'it''s'
    U&'\\00e9'
    _UTF8'é'
    'a' = 'a '
    'a' < 'B'
    N'x'
    """,
)
scalars(
    "hashes",
    """
    MD5(s)
    SHA1(s)
    SHA224(s)
    SHA256(s)
    SHA384(s)
    SHA512(s)
    SHA2(s, 256)
    SHA2(s, 224)
    SHA2(s, 512)
    MD5('')
    """,
    table("s STRING", ("'hello'",), ("''",), ("NULL",), ("'é'",)),
)
