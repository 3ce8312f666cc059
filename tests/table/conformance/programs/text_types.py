"""The types of what functions return for CHAR, VARCHAR and STRING, with NULL and without."""

from __future__ import annotations

from tests.table.conformance.registry import scalars, script

SOURCE = (
    "(SELECT id, CAST(a AS CHAR(3)) AS c, CAST(a AS VARCHAR(5)) AS v, CAST(a AS STRING) AS s, "
    "CAST(NULLIF(a, 'q') AS STRING) AS ns, CAST(NULLIF(a, 'q') AS VARCHAR(5)) AS nv, "
    "CAST(NULLIF(a, 'q') AS CHAR(3)) AS nc, n, CAST(NULLIF(n, 7) AS INT) AS nn "
    "FROM (VALUES (1, 'abc', 2), (2, 'x y', 1)) AS t (id, a, n))"
)
OF_TEXTS = """
INITCAP(@); UPPER(@); LOWER(@); REVERSE(@); LEFT(@, n); RIGHT(@, n); LTRIM(@); RTRIM(@); BTRIM(@); BTRIM(@, s); LTRIM(@, s)
LTRIM(@, v); BTRIM(@, v); TRIM(@); TRIM(BOTH @ FROM v); TRIM(LEADING 'a' FROM @); OVERLAY(@ PLACING v FROM 1)
OVERLAY(@ PLACING s FROM 1); OVERLAY(@ PLACING nv FROM n); ELT(n, @, v); ELT(nn, @, c); ELT(n, @); IFNULL(@, v)
IFNULL(@, 'abcdefgh'); IFNULL(@, 'a'); COALESCE(@, v); NULLIF(@, 'a'); IF(n > 1, @, 'abcdefg'); IF(nn > 1, @, v)
CASE WHEN n > 1 THEN @ ELSE 'abcdefg' END; GREATEST(@, 'abcdefg'); LEAST(@, v); TRANSLATE(@, v, c); CONCAT_WS(v, @, c)
CONCAT(@, v); CONCAT(@, c); CONCAT(@); @ || v; @ || c; REPLACE(@, v, c); REPEAT(@, n); SUBSTRING(@, n); SUBSTR(@, n)
SHA2(@, 256); SHA2(@, nn * 0 + 256); MD5(@); TO_BASE64(@); SPLIT_INDEX(@, 'b', 0); SPLIT(@, 'b'); CHAR_LENGTH(@)
REGEXP_EXTRACT(@, 'b', 0); REGEXP_SUBSTR(@, 'b'); REGEXP_EXTRACT_ALL(@, 'b'); REGEXP_COUNT(@, 'b'); REGEXP_INSTR(@, 'b')
REGEXP(@, v); @ LIKE v; URL_ENCODE(@); URL_DECODE(@); PARSE_URL(@, 'HOST'); PRINTF('%s', @); STARTSWITH(@, v); ASCII(@)
INSTR(@, v); LOCATE(v, @); POSITION(@ IN v); UNHEX(@); ENCODE(@, 'UTF-8'); HEX(@); TO_DATE(@); TO_TIMESTAMP(@)
JSON_VALUE(@, '$.a'); JSON_QUERY(@, '$.a'); JSON_EXISTS(@, '$.a'); @ IS JSON; JSON_STRING(@); JSON_QUOTE(@)
JSON_UNQUOTE(@); IS_ALPHA(@); FROM_UNIXTIME(n, @); ARRAY[@, v]; CAST(@ AS VARCHAR(2)); TRY_CAST(@ AS INT); INET_ATON(@)
"""
texts = [item.strip() for line in OF_TEXTS.splitlines() for item in line.split(";") if item.strip()]
scalars(
    "types_of_texts_and_their_results",
    "\n".join([
        *(item.replace("@", column) for item in texts for column in ("c", "v", "s", "ns", "nv", "nc")),
        "TYPEOF(UUID())", "CHR(nn)", "CHR(n)", "BIN(nn)", "COALESCE(nn, n)", "FROM_BASE64(TO_BASE64(s))",
        "FROM_BASE64(TO_BASE64(ns))", "CURRENT_DATABASE()",
    ]),
    SOURCE,
)  # fmt: skip
BASE64 = ("YQ", "YQ==", "Y", "Y Q==", "!!!!", "YQ==YQ==", "YQ=", "", "-_-_", "ä", "YWI", "YWJj")
scalars(
    "base64_and_sha2_of_wrong_input",
    "\n".join([
        *(f"FROM_BASE64('{text}')" for text in BASE64), "FROM_BASE64(s)", "FROM_BASE64(ns)",
        *(f"SHA2('a', {bits})" for bits in (0, 1, -1, 160, 224, 256, 257, 384, 512)), "SHA2('a', n)",
        "SHA2(CAST(NULL AS STRING), 1)", "SHA2(CAST(NULL AS STRING), 256)", "SHA2(ns, CAST(NULL AS INT))",
    ]),
    SOURCE,
)  # fmt: skip
scalars(
    "results_that_flink_calls_not_null",
    "\n".join(
        item.replace("@", column)
        for item in (
            "LPAD(@, n, @)", "LPAD(@, 3, 'x')", "LPAD(@, nn, 'x')", "RPAD(@, n, v)", "RPAD(@, 0, 'x')",
            "REGEXP_REPLACE(@, 'b', 'c')", "REGEXP_REPLACE('abc', @, v)", "ROW(@, LPAD(@, 3, 'x'))",
        )
        for column in ("c", "v", "s", "ns")
    ),
    SOURCE,
)  # fmt: skip
VALUES = ("'ab'", "'abcde'", "UPPER('abc')", "'ab' || 'c'", "SUBSTRING('abc', 1)", "CAST('abc' AS STRING)",
          "CASE WHEN TRUE THEN 'abc' ELSE 'de' END", "CAST(123 AS STRING)")  # fmt: skip
script(
    "texts_into_columns_of_fixed_length",
    """
CREATE TABLE texts (c CHAR(3)) WITH ('connector' = 'blackhole');
CREATE TABLE numbers (b BINARY(2)) WITH ('connector' = 'blackhole');
CREATE TABLE parts (f ROW<c CHAR(3)>, a ARRAY<CHAR(3)>) WITH ('connector' = 'blackhole');
CREATE TABLE long_texts (v VARCHAR(3)) WITH ('connector' = 'blackhole');
"""
    + "".join(f"INSERT INTO texts SELECT {value};\n" for value in VALUES)
    + """
INSERT INTO long_texts SELECT CAST('abcde' AS STRING);
INSERT INTO numbers SELECT x'010203';
INSERT INTO numbers SELECT b FROM (VALUES (CAST(x'0102' AS BYTES))) AS t (b);
INSERT INTO parts SELECT ROW('ab'), ARRAY['abcd'];
INSERT INTO parts SELECT ROW(CAST('ab' AS STRING)), ARRAY['abcd'];
INSERT INTO parts SELECT ROW('ab'), ARRAY['abc', 'd'];
""",
)
