"""Tables of hostile values, and the expressions over each of them.

A value comes from a file, so that nothing is computed while a statement is planned.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.table.hostile import values as v

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Value = str | None


@dataclass(frozen=True)
class Hostile:
    """A table: its columns as ``name TYPE``, its rows, and expressions over them."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    expressions: tuple[str, ...]

    def write(self, directory: Path) -> None:
        """Write the rows into a file of JSON; all values are texts."""
        names = [column.split(" ", 1)[0] for column in self.columns]
        lines = (
            json.dumps(
                {"id": number, **{name: value for name, value in zip(names, row, strict=True) if value is not None}}
            )
            for number, row in enumerate(self.rows)
        )
        (directory / "rows.json").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def statements(self, directory: Path) -> list[str]:
        """Return the statements that declare the table ``t``."""
        pairs = [column.split(" ", 1) for column in self.columns]
        texts = ", ".join(f"`{name}` STRING" for name, _ in pairs)
        casts = ", ".join(
            f"`{name}`" if kind == "STRING" else f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in pairs
        )
        options = f"'connector' = 'filesystem', 'path' = '{directory}', 'format' = 'json'"
        return [
            f"CREATE TEMPORARY TABLE given (id BIGINT, {texts}) WITH ({options})",
            f"CREATE TEMPORARY VIEW t AS SELECT id, {casts} FROM given",
        ]


def query(expressions: Sequence[str], condition: str = "") -> str:
    """Return the query of some expressions."""
    columns = ", ".join(f"{expression} AS e{number}" for number, expression in enumerate(expressions))
    return f"SELECT id, {columns} FROM t{condition}"


def _all(*lists: Sequence[Value]) -> tuple[tuple[Value, ...], ...]:
    return tuple(itertools.product(*lists))


def _beside(*lists: Sequence[Value]) -> tuple[tuple[Value, ...], ...]:
    """Return rows in which shorter lists begin again."""
    return tuple(tuple(part[number % len(part)] for part in lists) for number in range(max(map(len, lists))))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _each(pattern: str, names: str) -> Iterator[str]:
    return (pattern.replace("#", name) for name in names.split())


TYPES = (
    "BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(10,2) DECIMAL(38,0) DECIMAL(38,18) DATE TIME TIMESTAMP(3) TIMESTAMP(0) "
    "TIMESTAMP_LTZ(3) CHAR(3) VARCHAR(2) STRING BYTES BINARY(2)"
)
UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND"
ROUNDED = f"{UNITS} MILLISECOND DECADE CENTURY MILLENNIUM"
PARTS = f"{ROUNDED} MICROSECOND NANOSECOND DOW DOY ISODOW ISOYEAR EPOCH"

TABLES = (
    Hostile(
        "texts",
        ("s STRING",),
        _all(v.TEXTS),
        (
            *_each(
                "#(s)",
                "UPPER LOWER CHAR_LENGTH INITCAP TRIM LTRIM RTRIM BTRIM REVERSE ASCII TO_BASE64 FROM_BASE64 HEX UNHEX MD5 SHA1 SHA224 SHA256 SHA384 "
                "SHA512 URL_ENCODE URL_DECODE INET_ATON IS_ALPHA IS_DIGIT IS_DECIMAL STR_TO_MAP JSON_QUOTE JSON_UNQUOTE JSON_STRING TO_DATE "
                "TO_TIMESTAMP UNIX_TIMESTAMP PRINTF",
            ),
            *_each("TRY_CAST(s AS #)", TYPES),
            *_each("CAST(s AS #)", "CHAR(3) VARCHAR(2) BYTES BINARY(2)"),
            "s > 'a'", "s = '1'", "s || s", "PARSE_URL(s, 'HOST')", "s IN ('a', '12')", "NULLIF(s, 'a')", "GREATEST(s, 'm')",
            "CONCAT_WS(s, s, 'x')", "REPLACE(s, 'a', s)", "TRANSLATE(s, 'a', 'b')", "CAST(TO_TIMESTAMP_LTZ(s) AS STRING)", "PRINTF(s, 1)", "PRINTF(s, s)",
        ),
    ),
    Hostile("numbers_of_texts", ("s STRING",), _all(("1", "12a", "1e400", "NaN", "9" * 30, "", "-1")), (
        *_each("CAST(s AS #)", "TINYINT INT BIGINT FLOAT DOUBLE DECIMAL(10,2) DECIMAL(38,18) BOOLEAN DATE TIMESTAMP(3) TIME"), "s > 1", "s = 1",
    )),
    Hostile(
        "texts_and_patterns",
        ("s STRING", "p STRING"),
        _all(v.SHORT_TEXTS, v.PATTERNS),
        _lines(r"""
            s LIKE p
            s NOT LIKE p
            s LIKE p ESCAPE '!'
            s LIKE p ESCAPE '\'
            s SIMILAR TO p
            REGEXP(s, p)
            REGEXP_EXTRACT(s, p)
            REGEXP_EXTRACT(s, p, 1)
            REGEXP_EXTRACT(s, p, -1)
            REGEXP_EXTRACT_ALL(s, p)
            REGEXP_EXTRACT_ALL(s, p, 0)
            REGEXP_REPLACE(s, p, 'x')
            REGEXP_REPLACE(s, 'a', p)
            REGEXP_REPLACE(s, p, '$1')
            REGEXP_COUNT(s, p)
            REGEXP_INSTR(s, p)
            REGEXP_SUBSTR(s, p)
            SPLIT(s, p)
            SPLIT_INDEX(s, p, 0)
            SPLIT_INDEX(s, p, 1)
            STR_TO_MAP(s, p, '=')
            STR_TO_MAP(s, ',', p)
            POSITION(p IN s)
            LOCATE(p, s)
            INSTR(s, p)
            REPLACE(s, p, 'x')
            TRANSLATE(s, p, 'xy')
            TRANSLATE(s, 'abc', p)
            BTRIM(s, p)
            LTRIM(s, p)
            RTRIM(s, p)
            TRIM(BOTH p FROM s)
            TRIM(LEADING p FROM s)
            STARTSWITH(s, p)
            ENDSWITH(s, p)
            CONCAT_WS(p, s, s)
            LPAD(s, 5, p)
            RPAD(s, 5, p)
            OVERLAY(s PLACING p FROM 2)
            ELT(2, s, p)
            s < p
            s = p
            IFNULL(s, p)
        """),
    ),
    # With patterns from records, PyFlink takes minutes for some of these.
    Hostile("long_texts", ("s STRING",), _all((v.LONG, v.LONG + "b", v.LONG + "c")), (
        *_each("s LIKE '#'", "%a%a%a%b %a%b a% _% %a%a%a%a%a%a%a%a%c %_a%_b% %b%"), "s NOT LIKE '%a%a%a%b'", "s LIKE '%a%a!%b' ESCAPE '!'",
        "s SIMILAR TO '%b'", "REGEXP(s, '(a+)+c$')", "REGEXP_COUNT(s, 'a')", "REGEXP_EXTRACT(s, '^(a+)+c$', 1)", "SPLIT_INDEX(s, 'aaa', 1)", "LOCATE('aab', s)",
    )),
    Hostile(
        "texts_and_integers",
        ("s STRING", "i INT", "j INT"),
        _all((None, "", "a", "Hello World", "äß😀x", "\0"), v.INTS, ("0", "1", "-1", "3", "2147483647", "-2147483648", None)),
        _lines("""
            SUBSTRING(s, i)
            SUBSTRING(s, i, j)
            SUBSTR(s, i, j)
            LEFT(s, i)
            RIGHT(s, i)
            OVERLAY(s PLACING 'xyz' FROM i)
            OVERLAY(s PLACING 'xyz' FROM i FOR j)
            LOCATE('o', s, i)
            SPLIT_INDEX(s, 'o', i)
            REGEXP_EXTRACT(s, '(l)(o)', i)
            REGEXP_EXTRACT_ALL(s, '(l)(o)', i)
            SHA2(s, i)
            ELT(i, s, 'b')
            PRINTF('%d %s %x', i, s, j)
            PRINTF('%5.2f', i)
            s || i
            SPLIT(s, 'l')[i]
            ARRAY_SLICE(SPLIT(s, 'l'), i)
            ARRAY_SLICE(SPLIT(s, 'l'), i, j)
            REPEAT(s, CASE WHEN i > 50 THEN 50 ELSE i END)
            LPAD(s, CASE WHEN i > 50 THEN 50 ELSE i END, 'xy')
            RPAD(s, CASE WHEN i > 50 THEN 50 ELSE i END, 'xy')
            REPEAT('', i)
            LPAD(s, i, '')
        """),
    ),
    Hostile("texts_and_charsets", ("s STRING", "p STRING"), _all(("", "a", "äß😀x", "\ud800", "6162", "é"), v.CHARSETS), (
        "ENCODE(s, p)", "DECODE(CAST(s AS BYTES), p)", "DECODE(ENCODE(s, 'UTF-16'), p)", "DECODE(UNHEX('FFFE80'), p)",
    )),
    Hostile("urls_and_parts", ("s STRING", "p STRING"), _all(
        tuple(item for item in v.TEXTS if item is None or "/" in item or ":" in item or "%" in item or len(item) < 3), v.URL_PARTS,
    ), ("PARSE_URL(s, p)", "PARSE_URL(s, 'QUERY', p)", "PARSE_URL(s, p, 'k')")),
    Hostile("times_and_formats", ("s STRING", "p STRING"), _all(v.TIME_TEXTS, v.FORMATS), (
        "TO_DATE(s, p)", "TO_TIMESTAMP(s, p)", "UNIX_TIMESTAMP(s, p)", "CAST(TO_TIMESTAMP_LTZ(s, p) AS STRING)", "DATE_FORMAT(s, p)",
    )),
    Hostile("stamps_and_formats", ("ts TIMESTAMP(3)", "p STRING"), _all(v.STAMPS, v.FORMATS), (
        "DATE_FORMAT(ts, p)", "FROM_UNIXTIME(TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', ts), p)",
    )),
    Hostile("times_and_zones", ("s STRING", "p STRING"), _all(v.TIME_TEXTS, v.ZONES), (
        "CONVERT_TZ(s, p, 'UTC')", "CONVERT_TZ(s, 'UTC', p)", "CONVERT_TZ(s, p, 'Asia/Tokyo')",
        "CAST(TO_TIMESTAMP_LTZ(s, 'yyyy-MM-dd HH:mm:ss', p) AS STRING)",
    )),
    Hostile(
        "doubles",
        ("d DOUBLE", "f FLOAT"),
        _beside(v.DOUBLES, v.FLOATS),
        (
            *_each(
                "#(d)",
                "ABS FLOOR CEIL ROUND TRUNCATE SIGN SQRT LN LOG10 LOG2 LOG EXP SIN COS TAN COT ASIN ACOS ATAN SINH COSH TANH RADIANS DEGREES",
            ),
            *_each("#(f)", "ABS FLOOR CEIL ROUND TRUNCATE SIGN SQRT LN EXP COT ACOS SINH"),
            *_each("CAST(d AS #)", TYPES.replace(" BYTES BINARY(2)", "").replace("DATE TIME TIMESTAMP(3) TIMESTAMP(0) TIMESTAMP_LTZ(3) ", "")),
            *_each("CAST(f AS #)", "TINYINT SMALLINT INT BIGINT DOUBLE DECIMAL(10,2) DECIMAL(38,18) STRING BOOLEAN"),
            *_each("TRY_CAST(d AS #)", "TINYINT INT BIGINT FLOAT DECIMAL(38,18) STRING BOOLEAN"),
            "-d", "-f", "d IS NULL", "d + f", "d * f", "f * f", "f + f", "ARRAY[d, f]", "JSON_STRING(d)", "JSON_STRING(f)",
            "CAST(TO_TIMESTAMP_LTZ(d, 0) AS STRING)", "CAST(TO_TIMESTAMP_LTZ(d, 3) AS STRING)", "IS_DECIMAL(d)", "d || 'x'",
        ),
    ),
    Hostile(
        "pairs_of_doubles",
        ("d DOUBLE", "e DOUBLE"),
        _all(v.DOUBLES, v.DOUBLES),
        ("d + e", "d - e", "d * e", "d / e", "d % e", "MOD(d, e)", "POWER(d, e)", "ATAN2(d, e)", "LOG(d, e)", "d < e", "d = e", "d <> e", "d >= e",
         "GREATEST(d, e)", "LEAST(d, e)", "NULLIF(d, e)", "d IS DISTINCT FROM e", "d BETWEEN e AND e", "d IN (e, 1e0)"),
    ),
    Hostile(
        "doubles_and_digits", ("d DOUBLE", "f FLOAT", "m DECIMAL(38,18)", "i INT"),
        tuple((d, v.FLOATS[n % len(v.FLOATS)], v.FINE[n % len(v.FINE)], i) for n, d in enumerate(v.DOUBLES) for i in v.INTS),
        ("ROUND(d, i)", "TRUNCATE(d, i)", "ROUND(f, i)", "TRUNCATE(f, i)", "ROUND(m, i)", "TRUNCATE(m, i)", "POWER(d, i)", "d * i", "d + i", "m * d"),
    ),
    Hostile(
        "pairs_of_integers",
        ("y TINYINT", "h SMALLINT", "i INT", "l BIGINT", "z TINYINT", "k SMALLINT", "j INT", "m BIGINT"),
        tuple(
            (v.TINY[a % 6], v.SMALL[a % 6], v.INTS[a % 9], v.BIGS[a], v.TINY[b % 6], v.SMALL[b % 6], v.INTS[b % 9], v.BIGS[b])
            for a in range(10) for b in range(10)
        ),
        (
            *(f"{a} {sign} {b}" for a, b in ("yz", "hk", "ij", "lm", "im", "yj") for sign in "+-*"),
            *(f"{a} {sign} NULLIF({b}, CAST(0 AS {kind}))" for a, b, kind in (("y", "z", "TINYINT"), ("h", "k", "SMALLINT"), ("i", "j", "INT"), ("l", "m", "BIGINT")) for sign in "/%"),
            "i / j", "i % j", "l / m", "MOD(l, m)",
            *_each("ABS(#)", "y h i l"), *_each("-#", "y h i l"), *_each("SIGN(#)", "y i l"), *_each("FLOOR(#)", "i l"),
            *_each("CAST(l AS #)", "TINYINT SMALLINT INT FLOAT DOUBLE DECIMAL(10,2) DECIMAL(5,0) STRING BOOLEAN"),
            *_each("TRY_CAST(l AS #)", "TINYINT INT DECIMAL(5,0)"),
            "CAST(TO_TIMESTAMP_LTZ(l, 3) AS STRING)", "CAST(TO_TIMESTAMP_LTZ(l, 0) AS STRING)", "CAST(TO_TIMESTAMP_LTZ(l, i) AS STRING)", "FROM_UNIXTIME(l)", "CHR(l)", "CHR(i)", "HEX(l)", "BIN(l)", "INET_NTOA(l)", "INET_NTOA(i)",
            "ROUND(l, j)", "ROUND(i, j)", "TRUNCATE(l, j)", "POWER(l, m)", "SQRT(l)", "LN(l)", "EXP(l)", "COT(i)", "ACOS(i)", "LOG(i, j)", "GREATEST(l, m)", "l = m", "i > m",
            "PRINTF('%d', l)", "PRINTF('%c', i)", "PRINTF('%s', l)", "PRINTF('%f', i)", "ELT(l, 'a', 'b')", "RAND_INTEGER(CASE WHEN i > 0 THEN 1 ELSE 1 END)",

        ),
    ),
    Hostile(
        "pairs_of_decimals",
        ("w DECIMAL(38,0)", "n DECIMAL(38,18)", "c DECIMAL(10,2)", "x DECIMAL(38,0)", "o DECIMAL(38,18)", "g DECIMAL(10,2)"),
        tuple((v.WIDE[a], v.FINE[a], v.MONEY[a % 6], v.WIDE[b], v.FINE[b], v.MONEY[b % 6]) for a in range(8) for b in range(8)),
        (
            *(f"{a} {sign} {b}" for a, b in ("wx", "no", "cg", "wo", "cx") for sign in "+-*"),
            *(f"{a} {sign} NULLIF({b}, 0)" for a, b in ("wx", "no", "cg", "wo") for sign in "/%"),
            "c / g", "n % o",
            *_each("ABS(#)", "w n c"), *_each("-#", "w n"), *_each("FLOOR(#)", "w n c"), *_each("CEIL(#)", "w n c"), *_each("ROUND(#, 1)", "w n c"), *_each("ROUND(#, -1)", "w n c"),
            *_each("ROUND(#)", "w n"), *_each("TRUNCATE(#, 1)", "w n"), *_each("SIGN(#)", "w n"), *_each("SQRT(#)", "w n"), *_each("EXP(#)", "w n"), *_each("LN(#)", "w n"), *_each("ACOS(#)", "w"), "POWER(w, x)", "POWER(c, g)",
            *_each("CAST(w AS #)", "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(5,0) DECIMAL(38,18) STRING BOOLEAN"),
            *_each("CAST(n AS #)", "INT BIGINT DOUBLE DECIMAL(38,0) DECIMAL(5,2) STRING"), *_each("TRY_CAST(w AS #)", "INT DECIMAL(5,0)"),
            "w = x", "w < o", "GREATEST(w, x)", "n IN (o, 0)", "JSON_STRING(w)", "JSON_STRING(n)", "w || 'x'", "CAST(TO_TIMESTAMP_LTZ(w, 3) AS STRING)", "CAST(TO_TIMESTAMP_LTZ(n, 0) AS STRING)", "PRINTF('%s', n)",
        ),
    ),
    Hostile(
        "moments",
        ("ts TIMESTAMP(3)", "d DATE", "t TIME", "u TIMESTAMP(3)"),
        tuple((a, v.DATES[n % 6], v.CLOCKS[(n + m) % 4], b) for n, a in enumerate(v.STAMPS) for m, b in enumerate(v.STAMPS)),
        (
            *_each("EXTRACT(# FROM ts)", PARTS), *_each("EXTRACT(# FROM d)", PARTS), *_each("EXTRACT(# FROM t)", "HOUR MINUTE SECOND MILLISECOND"),
            *_each("FLOOR(ts TO #)", ROUNDED), *_each("CEIL(ts TO #)", ROUNDED), *_each("FLOOR(d TO #)", UNITS), *_each("CEIL(d TO #)", UNITS), *_each("FLOOR(t TO #)", "HOUR MINUTE SECOND"),
            *_each("TIMESTAMPDIFF(#, ts, u)", UNITS), *_each("TIMESTAMPDIFF(#, d, u)", UNITS),
            *_each("#(ts)", "YEAR QUARTER MONTH WEEK DAYOFYEAR DAYOFMONTH DAYOFWEEK HOUR MINUTE SECOND"),
            *_each("CAST(ts AS #)", "DATE TIME STRING TIMESTAMP_LTZ(3) TIMESTAMP(0)"), *_each("CAST(d AS #)", "STRING TIMESTAMP(3) TIMESTAMP_LTZ(3)"),
            "CAST(t AS STRING)", "CAST(t AS TIMESTAMP(3))", "ts = u", "ts < u", "GREATEST(ts, u)", "ts BETWEEN u AND u", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')",
            "UNIX_TIMESTAMP(CAST(ts AS STRING))", "(ts - u) DAY", "(ts - u) MONTH", "(ts, u) OVERLAPS (u, ts)", "JSON_STRING(ts)", "ts || ''", "ARRAY[ts, u]", "ROW(ts, d)", "PRINTF('%s', ts)", "PRINTF('%s', d)",
        ),
    ),
    Hostile(
        "moments_and_counts",
        ("ts TIMESTAMP(3)", "d DATE", "t TIME", "i INT", "l BIGINT"),
        tuple((a, v.DATES[n % 6], v.CLOCKS[n % 4], i, v.BIGS[m]) for n, a in enumerate(v.STAMPS) for m, i in enumerate(v.INTS)),
        (
            *_each("TIMESTAMPADD(#, i, ts)", UNITS), *_each("TIMESTAMPADD(#, i, d)", UNITS), *_each("TIMESTAMPADD(#, l, ts)", "DAY SECOND"),
            *_each("ts + INTERVAL '1' #", "YEAR MONTH DAY HOUR MINUTE SECOND"), *_each("ts - INTERVAL '1' #", "YEAR MONTH DAY HOUR MINUTE SECOND"),
            *_each("d + INTERVAL '1' #", "YEAR MONTH DAY"), *_each("d - INTERVAL '1' #", "YEAR MONTH DAY"), *_each("t + INTERVAL '1' #", "HOUR MINUTE SECOND"), *_each("t - INTERVAL '1' #", "HOUR SECOND"),
            "ts + INTERVAL '1' DAY * i", "ts - INTERVAL '1' SECOND * i", "ts + INTERVAL '1' MONTH * i", "d + INTERVAL '1' DAY * i", "INTERVAL '1' DAY * i", "INTERVAL '1' MONTH * i", "INTERVAL '99' DAY * l",
            "EXTRACT(DAY FROM INTERVAL '1' DAY * i)", "EXTRACT(YEAR FROM INTERVAL '1' MONTH * i)", "ts + INTERVAL '999999' DAY", "d - INTERVAL '9999' YEAR(4)",
        ),
    ),
    Hostile("documents", ("s STRING",), _all(v.DOCUMENTS), (
        "s IS JSON", "s IS NOT JSON", "s IS JSON OBJECT", "s IS JSON ARRAY", "s IS JSON SCALAR", "s IS NOT JSON VALUE",
        "JSON_EXISTS(s, '$.a')", "JSON_EXISTS(s, 'lax $.a')", "JSON_EXISTS(s, 'strict $.a' TRUE ON ERROR)", "JSON_EXISTS(s, '$' UNKNOWN ON ERROR)",
        "JSON_VALUE(s, '$')", "JSON_VALUE(s, 'lax $.a')", "JSON_VALUE(s, 'strict $.a')", "JSON_VALUE(s, 'lax $.a' DEFAULT 'x' ON EMPTY)", "JSON_VALUE(s, '$.a' NULL ON EMPTY DEFAULT 'y' ON ERROR)",
        "JSON_QUERY(s, '$')", "JSON_QUERY(s, 'lax $.a')", "JSON_QUERY(s, '$' WITH WRAPPER)", "JSON_QUERY(s, 'lax $..a')", "JSON_QUERY(s, '$' EMPTY ARRAY ON ERROR)", "JSON_QUERY(s, 'lax $[*]')",
        "JSON_QUOTE(s)", "JSON_UNQUOTE(s)", "JSON_STRING(s)", "JSON_OBJECT('a' VALUE s)", "JSON_ARRAY(s, s)",
    )),
    Hostile("documents_of_types", ("s STRING",), _all(('{"a": 1}', '{"a": 1.5}', '{"a": "x"}', '{"a": true}', '{"a": 99999999999}', '{"a": 1e400}', '{"a": null}', "{}", "x")), (
        "JSON_VALUE(s, '$.a' RETURNING INT NULL ON EMPTY NULL ON ERROR)", "JSON_VALUE(s, '$.a' RETURNING DOUBLE NULL ON EMPTY NULL ON ERROR)",
        "JSON_VALUE(s, '$.a' RETURNING BOOLEAN NULL ON EMPTY NULL ON ERROR)", "JSON_VALUE(s, '$.a' RETURNING STRING)", "JSON_OBJECT('a' VALUE JSON(s))", "JSON_ARRAY(JSON(s))",
    )),
    Hostile("documents_and_paths", ("s STRING", "p STRING"), _all(
        (None, "", "{}", "[]", "1", "null", '{"a": 1}', '{"a": {"b": [1, null, "x", {"c": true}]}}', "[1, 2, [3]]", '["aaaaab", {"a": 1}]', "[" * 900 + "]" * 900), v.PATHS,
    ), ("JSON_EXISTS(s, p)", "JSON_VALUE(s, p)", "JSON_QUERY(s, p)", "JSON_VALUE(s, p NULL ON EMPTY DEFAULT 'e' ON ERROR)", "JSON_QUERY(s, p WITH WRAPPER)")),
    Hostile(
        "collections",
        ("s STRING", "d DOUBLE", "i INT", "j INT", "w DECIMAL(38,0)", "ts TIMESTAMP(3)"),
        tuple((("a,b,,a", "", "b", None)[n % 4], v.DOUBLES[n % 20], v.INTS[m], v.INTS[(m + n) % 9], v.WIDE[n % 8], v.STAMPS[n % 7]) for n in range(20) for m in range(9)),
        _lines("""
            ARRAY[i, j]
            ARRAY[i, j][i]
            ARRAY[d, 1e0]
            ARRAY[w]
            ARRAY[s, NULL]
            MAP[s, i]
            MAP[s, i][s]
            MAP[i, j, j, i][i]
            MAP[d, i][d]
            CARDINALITY(ARRAY[i])
            CARDINALITY(SPLIT(s, ','))
            ELEMENT(ARRAY[i])
            ARRAY_CONTAINS(ARRAY[i, j], i)
            ARRAY_CONTAINS(ARRAY[i, NULL], j)
            ARRAY_CONTAINS(ARRAY[d, NULL], d)
            ARRAY_CONTAINS(SPLIT(s, ','), s)
            ARRAY_POSITION(ARRAY[d], d)
            ARRAY_POSITION(ARRAY[i, j], j)
            ARRAY_REMOVE(ARRAY[d, 1e0], d)
            ARRAY_REMOVE(ARRAY[i, j, NULL], i)
            ARRAY_APPEND(ARRAY[i], j)
            ARRAY_PREPEND(ARRAY[i], j)
            ARRAY_DISTINCT(ARRAY[d, d, 0e0, -0e0])
            ARRAY_DISTINCT(ARRAY[i, j, NULL, NULL])
            ARRAY_REVERSE(ARRAY[i, NULL])
            ARRAY_MAX(ARRAY[d, 1e0])
            ARRAY_MIN(ARRAY[d, 1e0])
            ARRAY_MAX(ARRAY[i, j])
            ARRAY_MAX(SPLIT(s, ','))
            ARRAY_MIN(ARRAY[ts])
            ARRAY_UNION(ARRAY[i], ARRAY[j, NULL])
            ARRAY_UNION(ARRAY[d], ARRAY[0e0])
            ARRAY_EXCEPT(ARRAY[i, j, NULL], ARRAY[j])
            ARRAY_INTERSECT(ARRAY[i, NULL], ARRAY[j, NULL])
            ARRAY_CONCAT(ARRAY[i], ARRAY[j])
            ARRAY_SLICE(ARRAY[1, 2, 3], i, j)
            ARRAY_SORT(ARRAY[d, 1e0, NULL])
            ARRAY_SORT(ARRAY[i, j, NULL], FALSE)
            ARRAY_SORT(SPLIT(s, ','), TRUE, FALSE)
            ARRAY_JOIN(SPLIT(s, ','), s)
            ARRAY_JOIN(ARRAY[s, NULL, 'x'], '-', s)
            MAP_KEYS(MAP[s, i])
            MAP_VALUES(MAP[s, i])
            MAP_ENTRIES(MAP[s, i])
            MAP_FROM_ARRAYS(ARRAY[s, 'x'], ARRAY[i, j])
            MAP_FROM_ARRAYS(ARRAY[d], ARRAY[i])
            MAP_UNION(MAP[s, i], MAP['x', j])
            ARRAY[ARRAY[i], ARRAY[j]]
            JSON_STRING(ARRAY[d])
            JSON_STRING(MAP[s, i])
            JSON_STRING(ROW(s, ts, w))
            COALESCE(d, i)
            CASE WHEN d > 0 THEN i ELSE j END
            CAST(ARRAY[i, j] AS STRING)
            CAST(MAP[s, d] AS STRING)
            CAST(ARRAY[d] AS ARRAY<INT>)
            ROW(d, w, s)
            STR_TO_MAP(s, ',', 'b')
        """),
    ),
)  # fmt: skip
NUMBERED = {table.name: table for table in TABLES}
