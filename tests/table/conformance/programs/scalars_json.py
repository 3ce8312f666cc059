"""JSON: paths, clauses, documents that are odd or no JSON, and what is built from values."""

from __future__ import annotations

from tests.table.conformance.registry import scalars, script, table

scalars(
    "json_functions",
    """
    JSON_VALUE(j, '$.a')
    JSON_VALUE(j, '$.b')
    JSON_VALUE(j, '$.c[1]')
    JSON_VALUE(j, '$.d.e')
    JSON_VALUE(j, 'lax $.zzz')
    JSON_VALUE(j, '$.a' RETURNING INTEGER)
    JSON_VALUE(j, '$.a' RETURNING DOUBLE)
    JSON_VALUE(j, '$.t' RETURNING BOOLEAN)
    JSON_VALUE(j, '$.a' RETURNING STRING)
    JSON_VALUE(j, '$.zzz' DEFAULT 'none' ON EMPTY)
    JSON_VALUE(j, '$.d' NULL ON ERROR)
    JSON_VALUE(j, '$.d' DEFAULT 'object' ON ERROR)
    JSON_QUERY(j, '$')
    JSON_QUERY(j, '$.c')
    JSON_QUERY(j, '$.d')
    JSON_QUERY(j, '$.a')
    JSON_QUERY(j, '$.a' WITH WRAPPER)
    JSON_QUERY(j, '$.c[*]' WITH CONDITIONAL WRAPPER)
    JSON_QUERY(j, '$.zzz' EMPTY ARRAY ON EMPTY)
    JSON_QUERY(j, '$.zzz' EMPTY OBJECT ON EMPTY)
    JSON_EXISTS(j, '$.a')
    JSON_EXISTS(j, '$.zzz')
    JSON_EXISTS(j, 'strict $.zzz' TRUE ON ERROR)
    JSON_EXISTS(j, 'strict $.zzz' UNKNOWN ON ERROR)
    j IS JSON
    j IS JSON OBJECT
    j IS JSON ARRAY
    j IS JSON SCALAR
    j IS NOT JSON
    JSON_STRING(1)
    JSON_STRING('a"b')
    JSON_STRING(ARRAY[1, 2])
    JSON_STRING(TRUE)
    JSON_STRING(CAST(NULL AS INT))
    JSON_OBJECT('a' VALUE 1, 'b' VALUE 'x')
    JSON_OBJECT('a' VALUE CAST(NULL AS INT))
    JSON_OBJECT('a' VALUE CAST(NULL AS INT) ABSENT ON NULL)
    JSON_OBJECT(KEY 'k' VALUE JSON_OBJECT('n' VALUE 1.5))
    JSON_OBJECT()
    JSON_ARRAY(1, 'a', TRUE)
    JSON_ARRAY(1, CAST(NULL AS INT))
    JSON_ARRAY(1, CAST(NULL AS INT) NULL ON NULL)
    JSON_ARRAY(JSON_ARRAY(1))
    JSON_QUOTE('a"b')
    JSON_UNQUOTE('"a"')
    """,
    table(
        "j STRING",
        ("""'{"a": 1, "b": "x", "c": [1, 2.5], "d": {"e": null}, "t": true}'""",),
        ("'[1, 2]'",),
        ("'not json'",),
        ("NULL",),
        ("'1'",),
        ("""'{"a": "7", "b": null}'""",),
    ),
)

ODD_DOCUMENTS = """
{"v": 1e3}
{"v": 1.0}
{"v": 1.50}
{"v": 12345678901234567890}
{"v": 3000000000}
{"v": 0.1234567890123456789012345}
{"v": 1E-10}
{"v": -0}
{"v": -0.0}
{"v": "\\u00e9\\ud83d\\ude00"}
{"v": "a\\"b\\\\c\\/d\\n\\t\\b\\f\\r"}
{"v": 1, "v": 2}
{"v": 1} trailing
{"v": 01}
{v: 1}
{"v": NaN}
{"v": .5}
{"v": 1.}
{"v": [1,]}
{"v": [1,2}
{"v": +1}
{"v": "no end
{"v": "é€😀"}
{"v": {"x": [1, {"y": null}], "z": "a b"}}
{"v": []}
{"v": {}}
{"v": [[]]}
{"v": "\\u0000\\u001f\\u007f"}
{"v": "</script>\\u2028"}
{"v": "\\ud83d"}
{"v": "\\x"}
{"v": 1e400}
{"v": true}
{"v": null}
{"v": "null"}
{"v": ""}
{"V": 1}
{"v" : 9007199254740993.5}
{"v": 100000000000000000000000000000000000000000e-5}
{"v": 0.00000001}
true
null
1
-1.50
1 2
[1] [2]
[1, "v", {"v": 1}]
"text"
"no end
nul
[]
{}
{"a": 1, /* comment */ "v": 2}
// comment
{"a" 1}
{"a": 1 "v": 2}
{,}
]
""".strip().splitlines()


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


ODD = table(
    "j STRING",
    *((quoted(item),) for item in ODD_DOCUMENTS),
    ("''",),
    ("' '",),
    ("'  {\"v\" :\n\t7 } '",),
    ('\'{"v": "a\tb"}\'',),
    ('\'{"v": "a\nb"}\'',),
    ("'{''v'': 1}'",),
    ("NULL",),
)

scalars(
    "json_values_of_odd_documents",
    """
    JSON_VALUE(j, '$.v')
    JSON_VALUE(j, 'lax $.v')
    JSON_VALUE(j, '$')
    JSON_VALUE(j, 'lax $')
    JSON_VALUE(j, 'strict $.v' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, 'lax $.v' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_EXISTS(j, '$.v')
    JSON_EXISTS(j, 'lax $.v')
    JSON_EXISTS(j, '$')
    JSON_EXISTS(j, 'lax $')
    JSON_EXISTS(j, 'lax $.v' UNKNOWN ON ERROR)
    JSON_EXISTS(j, 'strict $.v' UNKNOWN ON ERROR)
    """,
    ODD,
)
scalars(
    "json_queries_of_odd_documents",
    """
    JSON_QUERY(j, '$')
    JSON_QUERY(j, 'lax $')
    JSON_QUERY(j, '$.v')
    JSON_QUERY(j, 'lax $.v')
    JSON_QUERY(j, '$.v' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.v' WITH WRAPPER)
    JSON_QUERY(j, '$.v' WITH CONDITIONAL WRAPPER)
    JSON_QUERY(j, '$.v' EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)
    JSON_QUERY(j, 'lax $.v' EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)
    """,
    ODD,
)
scalars(
    "what_is_json",
    """
    j IS JSON
    j IS JSON VALUE
    j IS JSON OBJECT
    j IS JSON ARRAY
    j IS JSON SCALAR
    j IS NOT JSON
    j IS NOT JSON VALUE
    j IS NOT JSON OBJECT
    j IS NOT JSON ARRAY
    j IS NOT JSON SCALAR
    CAST(NULL AS STRING) IS JSON
    j IS JSON AND j IS NOT JSON SCALAR
    NOT j IS JSON
    (j IS JSON) IS TRUE
    id IS JSON
    """,
    ODD,
)
scalars(
    "json_quoting",
    """
    JSON_QUOTE(j)
    JSON_UNQUOTE(j)
    JSON_UNQUOTE(JSON_QUOTE(j))
    JSON_STRING(j)
    JSON_QUOTE(id)
    JSON_QUOTE(CAST(NULL AS STRING))
    JSON_UNQUOTE(CAST(NULL AS STRING))
    JSON_QUOTE('a/b')
    JSON_UNQUOTE('"a\\u00e9b"')
    JSON_UNQUOTE('"')
    JSON_UNQUOTE('""')
    JSON_UNQUOTE('"a" ')
    JSON_QUOTE('')
    """,
    ODD,
)

SHOP = """
{"store": {"book": [
 {"category": "reference", "author": "Nigel Rees", "title": "Sayings", "price": 8.95},
 {"category": "fiction", "author": "Evelyn Waugh", "title": "Sword", "price": 12.99, "tags": ["a", "b"]},
 {"category": "fiction", "author": "Herman Melville", "title": "Moby Dick", "isbn": "0-553", "price": 8.99},
 {"category": "fiction", "author": null, "title": "The Lord", "isbn": "0-395", "price": 22}],
 "bicycle": {"color": "red", "price": 19.95}}, "expensive": 10, "a b": 1, "it''s": 2, "x.y": 3, "nested": [[1, 2], [3, [4, 5]]],
 "é": 5, "none": null, "empty": [], "flag": true, "words": ["x", "y", "x"], "numbers": [3, 1, 2, 1.5]}
""".replace("\n", "")

PATHS = """
$
$.store
$.store.book
$.store.book[0]
$.store.book[3].price
$.store.book[4]
$.store.book[-1].title
$.store.book[-9]
$.store.book[*].title
$.store.book[*]
$.store.*
$.store.book[0,2].title
$.store.book[0, 9].title
$.store.book[0:2].title
$.store.book[1:].title
$.store.book[:1].title
$.store.book[-2:].title
$.store.book[:-3].title
$.store.book[9:].title
$.store.book[2:1].title
$..price
$..book[0]
$..book[*].title
$..*
$..zzz
$.zzz
$.zzz.y
$.expensive.y
$.expensive[0]
$.none
$.none.x
$.empty
$.empty[0]
$.empty[*]
$['store']['bicycle']['color']
$["store"]["bicycle"]
$['store'].book[0]['title']
$['a b']
$.a b
$['x.y']
$.é
$['expensive','flag']
$['expensive','zzz']
$.store.bicycle['color', 'price']
$.store.book[*]['title', 'price']
$.store.book[*].isbn
$.store.book[*].tags
$.store.book[*].tags[0]
$.store.book.title
$.store.book[?(@.price < 10)].title
$.store.book[?(@.price <= 8.95)].title
$.store.book[?(@.price == 22)].title
$.store.book[?(@.price != 22)].title
$.store.book[?(@.price > $.expensive)].title
$.store.book[?(@.isbn)].title
$.store.book[?(!@.isbn)].title
$.store.book[?(@.author == null)].title
$.store.book[?(@.author != null)].title
$.store.book[?(@.category == ''fiction'')].title
$.store.book[?(@.category == "fiction" && @.price < 10)].title
$.store.book[?(@.price > 20 || @.category == ''reference'')].title
$.store.book[?(@.category =~ /FIC.*/i)].title
$.store.book[?(@.category =~ /fic/)].title
$.store.book[?(@.category in [''reference'', ''x''])].title
$.store.book[?(@.category nin [''reference'', ''x''])].title
$.store.book[?(@.tags size 2)].title
$.store.book[?(@.tags empty false)].title
$.store.book[?(@.tags contains ''a'')].title
$.store.book[?(@[''price''] > 10)].title
$.store.book[?(@.zzz)].title
$.store[?(@.color)].price
$.store[?(@.color == ''red'')]
$.numbers[?(@ > 1)]
$.numbers[?(@ >= 1 && @ < 3)]
$.words[?(@ == ''x'')]
$.nested[*][0]
$.nested[1][1][0]
$.nested[*]
$..nested[1]
$.store.book.length()
$.numbers.length()
$.numbers.min()
$.numbers.max()
$.numbers.avg()
$.numbers.sum()
$.numbers.stddev()
$.numbers.first()
$.numbers.last()
$.store.bicycle.keys()
$.store.keys()
$.words.concat("z")
$.words.append("z")
$.numbers.index(1)
$.store.book[*].price.sum()
$.sum($.store.book[*].price)
$..book.length()
$.expensive.length()
$..book[?(@.price < $.expensive)].title
$.*
$[*]
$[0]
$.store.book['title']
$.store.book[*].*
""".strip().splitlines()
ILL = """
store
.store
$store
$.
$..
$[
$['a
$.a[
$.a[x]
$[?(@.a]
$[?(@.a == )]
$.a[1:2:3]
$.[0]
@.expensive
lax
lax  $.expensive
 lax $.expensive
LAX $.expensive
Strict $.expensive
strict$.expensive
laxer $.expensive
 $.expensive
$ .expensive
$.expensive 
$.store.book[ 0 ].title
$.store.book[01].title
$.store.book[].title
$['']
$.''expensive''
$[''expensive'']
$.store.book[0].title.
""".strip("\n").splitlines()  # noqa: W291
_ALL = "WITH WRAPPER EMPTY OBJECT ON EMPTY EMPTY ARRAY ON ERROR"


def escaped(path: str) -> str:
    """Return a path as a literal; some are written with pairs of quotes already."""
    return "'" + path.replace("''", "'").replace("'", "''") + "'"


SHOPS = table("j STRING", ("'" + SHOP + "'",), ('\'[{"store": 1}, {"expensive": 2}, 3]\'',))
for _mode in ("lax", "strict"):
    scalars(
        f"json_paths_{_mode}",
        "\n".join(f"JSON_QUERY(j, {escaped(f'{_mode} {path}')} {_ALL})" for path in PATHS),
        SHOPS,
    )
scalars("ill_json_paths", "\n".join(f"JSON_QUERY(j, {escaped(path)} {_ALL})" for path in ILL), SHOPS)
scalars(
    "json_paths_of_values",
    """
    JSON_VALUE(j, '$.store.book[*].title' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, 'lax $.store.book[*].title' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, '$.store.book[0].title' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, '$.numbers.length()' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, '$.numbers.sum()' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, '$[' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, 'lax $[' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, '')
    JSON_VALUE(j, ' ')
    JSON_VALUE(j, CAST(NULL AS STRING))
    JSON_VALUE(j, NULL)
    JSON_VALUE(j, j)
    JSON_VALUE(j, '$.' || 'expensive')
    JSON_EXISTS(j, '$[')
    JSON_EXISTS(j, 'lax $[' UNKNOWN ON ERROR)
    JSON_EXISTS(j, '$.none')
    JSON_EXISTS(j, '$.none.x' UNKNOWN ON ERROR)
    JSON_EXISTS(j, '$.empty[*]')
    JSON_EXISTS(j, '$..zzz')
    JSON_EXISTS(j, '$.store.book[?(@.price > 100)]')
    JSON_EXISTS(j, CAST(NULL AS STRING))
    JSON_QUERY(j, CAST(NULL AS STRING))
    JSON_QUERY(j, '$.' || 'store')
    JSON_EXISTS(id, '$')
    JSON_VALUE(id, '$')
    JSON_VALUE(NULL, '$')
    JSON_VALUE(CAST(j AS BYTES), '$')
    JSON_VALUE(j)
    """,
    SHOPS,
)
scalars(
    "json_values_with_clauses",
    """
    JSON_VALUE(j, '$.v' RETURNING STRING)
    JSON_VALUE(j, '$.v' RETURNING VARCHAR(2))
    JSON_VALUE(j, '$.v' RETURNING VARCHAR)
    JSON_VALUE(j, '$.v' RETURNING CHAR(2))
    JSON_VALUE(j, '$.s' RETURNING BOOLEAN)
    JSON_VALUE(j, '$.v' RETURNING INT NULL ON ERROR)
    JSON_VALUE(j, '$.v' RETURNING INTEGER)
    JSON_VALUE(j, '$.v' RETURNING BIGINT)
    JSON_VALUE(j, '$.f' RETURNING DOUBLE)
    JSON_VALUE(j, '$.v' RETURNING FLOAT)
    JSON_VALUE(j, '$.v' RETURNING DECIMAL(10, 2))
    JSON_VALUE(j, '$.b' RETURNING BOOLEAN)
    JSON_VALUE(j, '$.d' RETURNING DATE)
    JSON_VALUE(j, '$.s' RETURNING INTEGER)
    JSON_VALUE(j, '$.big' RETURNING INTEGER)
    JSON_VALUE(j, '$.z' RETURNING INTEGER DEFAULT 5 ON EMPTY DEFAULT 6 ON ERROR)
    JSON_VALUE(j, 'lax $.z' RETURNING INTEGER DEFAULT 5 ON EMPTY DEFAULT 6 ON ERROR)
    JSON_VALUE(j, 'lax $.z' RETURNING INTEGER DEFAULT '5' ON EMPTY)
    JSON_VALUE(j, 'lax $.z' RETURNING DOUBLE DEFAULT 1.5 ON EMPTY)
    JSON_VALUE(j, 'lax $.z' RETURNING DOUBLE DEFAULT 1e0 ON EMPTY)
    JSON_VALUE(j, 'lax $.z' RETURNING BOOLEAN DEFAULT TRUE ON EMPTY)
    JSON_VALUE(j, 'lax $.z' DEFAULT 5 ON EMPTY)
    JSON_VALUE(j, 'lax $.z' DEFAULT s ON EMPTY)
    JSON_VALUE(j, 'lax $.z' DEFAULT UPPER('x') ON EMPTY)
    JSON_VALUE(j, 'lax $.z' DEFAULT NULL ON EMPTY)
    JSON_VALUE(j, 'lax $.z' DEFAULT CAST(NULL AS STRING) ON EMPTY)
    JSON_VALUE(j, 'lax $.z' NULL ON EMPTY)
    JSON_VALUE(j, 'lax $.z' ERROR ON EMPTY)
    JSON_VALUE(j, '$.z' ERROR ON ERROR)
    JSON_VALUE(j, 'lax $.z' NULL ON EMPTY ERROR ON ERROR)
    JSON_VALUE(j, 'lax $.z' ERROR ON EMPTY NULL ON ERROR)
    JSON_VALUE(j, 'lax $.z' NULL ON ERROR NULL ON EMPTY)
    JSON_VALUE(j, '$.v' ERROR ON EMPTY ERROR ON ERROR)
    json_value(j, '$.v' returning string default 'x' on empty)
    JSON_VALUE(j, '$.v') || '!'
    JSON_VALUE(j, '$.v', '$.b')
    """,
    table(
        "j STRING; s STRING",
        (
            """'{"v": 5, "s": "true", "b": true, "f": 1.25, "d": "2020-01-02", "big": 3000000000, "t": "long text"}'""",
            "'dflt'",
        ),
        ("NULL", "'y'"),
    ),
)
scalars(
    "json_values_as_texts",
    """
    JSON_VALUE(j, '$.v' RETURNING BOOLEAN)
    JSON_VALUE(j, '$.v')
    JSON_VALUE(j, '$.s' RETURNING STRING)
    JSON_VALUE(j, '$.f' RETURNING DOUBLE)
    """,
    table(
        "j STRING",
        ("""'{"v": true, "s": 1, "f": 1e3}'""",),
        ("""'{"v": false, "s": false, "f": 0.1}'""",),
        ("""'{"v": null, "s": 1.50, "f": null}'""",),
        ("""'{"s": 1e-9, "f": 123456789.123456789}'""",),
    ),
)
scalars(
    "json_queries_with_clauses",
    """
    JSON_QUERY(j, '$.a' WITHOUT WRAPPER)
    JSON_QUERY(j, '$.a' WITHOUT ARRAY WRAPPER)
    JSON_QUERY(j, '$.a' WITH WRAPPER)
    JSON_QUERY(j, '$.a' WITH ARRAY WRAPPER)
    JSON_QUERY(j, '$.a' WITH UNCONDITIONAL WRAPPER)
    JSON_QUERY(j, '$.a' WITH UNCONDITIONAL ARRAY WRAPPER)
    JSON_QUERY(j, '$.a' WITH CONDITIONAL WRAPPER)
    JSON_QUERY(j, '$.a' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY(j, '$.o' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY(j, '$.s' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY(j, '$.s' WITH WRAPPER NULL ON EMPTY ERROR ON ERROR)
    JSON_QUERY(j, '$.s' NULL ON ERROR)
    JSON_QUERY(j, '$.s' EMPTY ARRAY ON ERROR)
    JSON_QUERY(j, '$.s' EMPTY OBJECT ON ERROR)
    JSON_QUERY(j, '$.s' ERROR ON ERROR)
    JSON_QUERY(j, 'lax $.s' ERROR ON EMPTY)
    JSON_QUERY(j, 'lax $.s' EMPTY ARRAY ON EMPTY)
    JSON_QUERY(j, 'lax $.s' EMPTY ARRAY ON ERROR)
    JSON_QUERY(j, 'lax $.z' EMPTY ON EMPTY)
    JSON_QUERY(j, 'lax $.z' EMPTY OBJECT ON EMPTY NULL ON ERROR)
    JSON_QUERY(j, 'lax $.z' NULL ON EMPTY)
    JSON_QUERY(j, 'lax $.z' DEFAULT 'x' ON EMPTY)
    JSON_QUERY(j, '$.a' RETURNING STRING)
    JSON_QUERY(j, '$.a' RETURNING VARCHAR)
    JSON_QUERY(j, '$.a' RETURNING ARRAY<STRING>)
    JSON_QUERY(j, '$.m' RETURNING ARRAY<STRING>)
    JSON_QUERY(j, '$.s' RETURNING ARRAY<STRING>)
    JSON_QUERY(j, '$.s' RETURNING ARRAY<STRING> WITH WRAPPER)
    JSON_QUERY(j, '$.o' RETURNING ARRAY<STRING>)
    JSON_QUERY(j, '$.o' RETURNING ARRAY<STRING> WITH WRAPPER)
    JSON_QUERY(j, '$.o' RETURNING ARRAY<STRING> EMPTY ARRAY ON ERROR)
    JSON_QUERY(j, 'lax $.z' RETURNING ARRAY<STRING> EMPTY ARRAY ON EMPTY)
    JSON_QUERY(j, 'lax $.z' RETURNING ARRAY<STRING> EMPTY OBJECT ON EMPTY)
    JSON_QUERY(j, 'lax $.z' RETURNING ARRAY<STRING>)
    JSON_QUERY(j, '$.a' RETURNING ARRAY<INT>)
    JSON_QUERY(j, '$.a' RETURNING INT)
    JSON_QUERY(j, '$.u')
    JSON_QUERY(j, '$.n')
    JSON_EXISTS(j, '$.z' ERROR ON ERROR)
    JSON_EXISTS(j, '$.z' FALSE ON ERROR)
    JSON_EXISTS(j, '$.z' TRUE ON ERROR)
    JSON_EXISTS(j, 'lax $.z' ERROR ON ERROR)
    """,
    table(
        "j STRING",
        (
            """'{"a": [1, "b", null], "o": {"k": [true]}, "s": "x", "m": [1.50, "é", null, true, [1, "x"], {"q": 1}], "u": ["\\u00e9", "é", "a\\"b", "a/b", "\\u0001", "\\u007f", "\\ud83d\\ude00"], "n": [1e3, 1.0, 1E-12, 12345678901234567890, -0.0]}'""",
        ),
        ("NULL",),
    ),
)
scalars(
    "json_from_values",
    """
    JSON_STRING(CAST(1 AS TINYINT))
    JSON_STRING(CAST(1 AS BIGINT))
    JSON_STRING(1.50)
    JSON_STRING(CAST(1000 AS DECIMAL(10, 0)))
    JSON_STRING(CAST(0.00000001 AS DECIMAL(20, 10)))
    JSON_STRING(1e3)
    JSON_STRING(1e10)
    JSON_STRING(1e-7)
    JSON_STRING(CAST(1.5 AS FLOAT))
    JSON_STRING(CAST(0.1 AS FLOAT))
    JSON_STRING(CAST('NaN' AS DOUBLE))
    JSON_STRING('é€😀')
    JSON_STRING('a/b')
    JSON_STRING('')
    JSON_STRING(CAST('ab' AS CHAR(4)))
    JSON_STRING(x'6162')
    JSON_STRING(DATE '2020-01-02')
    JSON_STRING(TIME '03:04:05')
    JSON_STRING(TIMESTAMP '2020-01-02 03:04:05')
    JSON_STRING(TIMESTAMP '2020-01-02 03:04:05.123456')
    JSON_STRING(TIMESTAMP '2020-01-02 03:04:05.100')
    JSON_STRING(TO_TIMESTAMP_LTZ(1577934245123, 3))
    JSON_STRING(INTERVAL '1' DAY)
    JSON_STRING(ARRAY['a', 'b'])
    JSON_STRING(ARRAY[CAST(NULL AS INT), 1])
    JSON_STRING(ARRAY[ARRAY[1], ARRAY[2, 3]])
    JSON_STRING(MAP['a', 1, 'b', 2])
    JSON_STRING(MAP[1, 'x'])
    JSON_STRING(ROW(1, 'a'))
    JSON_STRING(ROW(1, CAST(NULL AS STRING)))
    JSON_STRING(CAST(ROW(1, 'a') AS ROW<x INT, y STRING>))
    JSON_STRING(ARRAY[CAST(ROW(1, 'a') AS ROW<x INT, y STRING>)])
    JSON_STRING(JSON_OBJECT('a' VALUE 1))
    JSON_STRING(NULL)
    JSON_STRING()
    JSON_STRING(s)
    JSON_STRING(i)
    JSON_OBJECT('a' VALUE s, 'b' VALUE i)
    JSON_OBJECT('a' VALUE s, 'b' VALUE i ABSENT ON NULL)
    JSON_OBJECT('a' VALUE s NULL ON NULL)
    JSON_OBJECT('a': s, 'b': i)
    JSON_OBJECT(KEY 'a' VALUE s, KEY 'b' VALUE i)
    JSON_OBJECT('a', 1)
    JSON_OBJECT(s VALUE 1)
    JSON_OBJECT('a' VALUE 1, 'a' VALUE 2)
    JSON_OBJECT('b' VALUE 1, 'a' VALUE 2)
    JSON_OBJECT(1 VALUE 1)
    JSON_OBJECT('a' VALUE JSON_ARRAY(1, 2))
    JSON_OBJECT('a' VALUE JSON_STRING(1))
    JSON_OBJECT('a' VALUE JSON_OBJECT('b' VALUE NULL))
    JSON_OBJECT('a' VALUE NULL)
    JSON_OBJECT('a' VALUE '{"b": 1}')
    JSON_OBJECT('a' VALUE JSON('{"b": 1.50, "c": [1,  2]}'))
    JSON_OBJECT('a' VALUE JSON(s))
    JSON_ARRAY(JSON('[1]'), JSON('2'))
    JSON('{"b": 1}')
    JSON_OBJECT('a' VALUE JSON_QUERY('{"b": [1]}', '$.b'))
    JSON_OBJECT('a' VALUE ARRAY[1, 2], 'm' VALUE MAP['k', 1], 'r' VALUE ROW(1, 'x'))
    JSON_OBJECT('t' VALUE TIMESTAMP '2020-01-02 03:04:05', 'd' VALUE DATE '2020-01-02', 'y' VALUE x'61')
    JSON_OBJECT('a"b' VALUE 'c"d')
    JSON_OBJECT('f' VALUE 1e0, 'g' VALUE CAST(1 AS FLOAT), 'h' VALUE 1.0)
    JSON_ARRAY()
    JSON_ARRAY(ABSENT ON NULL)
    JSON_ARRAY(NULL)
    JSON_ARRAY(NULL NULL ON NULL)
    JSON_ARRAY(s, i)
    JSON_ARRAY(s, i NULL ON NULL)
    JSON_ARRAY(s, i ABSENT ON NULL)
    JSON_ARRAY(JSON_OBJECT('a' VALUE 1), JSON_STRING('x'), 'y')
    JSON_ARRAY(1.50, 1e3, DATE '2020-01-02', TIME '01:02:03', x'61')
    JSON_ARRAY(ARRAY[1], MAP['a', 1], ROW(1, 2))
    JSON_ARRAY(UPPER('a'), 1 + 1)
    CHAR_LENGTH(JSON_ARRAY(1))
    """,
    table("s STRING; i INT", ("'x'", "1"), ("NULL", "NULL"), ("""'{"z": 1}'""", "-5")),
)
script(
    "json_of_groups",
    r"""
    CREATE TEMPORARY VIEW rows_ AS SELECT * FROM (VALUES ('a', 'x', 1), ('a', 'y', CAST(NULL AS INT)), ('b', 'x', 3), ('b', 'x', 4)) AS t (g, k, v);
    SELECT g, JSON_OBJECTAGG(KEY k VALUE v) AS o FROM rows_ WHERE g = 'a' GROUP BY g;
    SELECT g, JSON_OBJECTAGG(k VALUE v) AS o FROM rows_ WHERE g = 'a' GROUP BY g;
    SELECT g, JSON_OBJECTAGG(KEY k VALUE v NULL ON NULL) AS o FROM rows_ WHERE g = 'a' GROUP BY g;
    SELECT g, JSON_OBJECTAGG(KEY k VALUE v ABSENT ON NULL) AS o FROM rows_ WHERE g = 'a' GROUP BY g;
    SELECT g, JSON_OBJECTAGG(KEY k VALUE v) AS o FROM rows_ WHERE g = 'b' GROUP BY g;
    SELECT JSON_OBJECTAGG(k: v) AS o FROM rows_ WHERE g = 'a';
    SELECT g, JSON_ARRAYAGG(v) AS o FROM rows_ GROUP BY g;
    SELECT g, JSON_ARRAYAGG(v NULL ON NULL) AS o FROM rows_ GROUP BY g;
    SELECT g, JSON_ARRAYAGG(v ABSENT ON NULL) AS o FROM rows_ GROUP BY g;
    SELECT JSON_ARRAYAGG(v) AS o FROM rows_ WHERE v > 9;
    SELECT JSON_OBJECTAGG(KEY k VALUE v) AS o FROM rows_ WHERE v > 9;
    SELECT JSON_ARRAYAGG(DISTINCT k) AS o FROM rows_;
    SELECT JSON_ARRAYAGG(k ORDER BY k) AS o FROM rows_;
    SELECT JSON_ARRAYAGG(JSON_OBJECT('k' VALUE k, 'v' VALUE v)) AS o FROM rows_;
    SELECT JSON_OBJECTAGG(KEY g VALUE JSON_ARRAY(k, v)) AS o FROM rows_;
    SELECT JSON_OBJECT('all' VALUE JSON_ARRAYAGG(v)) AS o FROM rows_;
    SELECT g, JSON_ARRAYAGG(v) FILTER (WHERE k = 'x') AS o FROM rows_ GROUP BY g;
    SELECT JSON_ARRAYAGG(d) AS o FROM (VALUES (1.50, 1e0), (2.00, 1e10)) AS t (d, f);
    SELECT JSON_ARRAYAGG(f) AS o FROM (VALUES (1.50, 1e0), (2.00, 1e10)) AS t (d, f);
    SELECT JSON_ARRAYAGG(d) AS o FROM (VALUES (DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05')) AS t (d, ts);
    SELECT JSON_ARRAYAGG(ts) AS o FROM (VALUES (DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05')) AS t (d, ts);
    SELECT JSON_ARRAYAGG(x) AS o FROM (SELECT ARRAY[1, 2] AS x FROM (VALUES (1)) AS t (v));
    SELECT JSON_OBJECTAGG(KEY v VALUE g) AS o FROM rows_;
    """,
    level=3,
    modes=("STREAMING", "BATCH"),
)
scalars(
    "functions_of_json_paths",
    """
    JSON_VALUE(j, 'lax $.sum($.a)')
    JSON_VALUE(j, 'strict $.sum($.a)')
    JSON_VALUE(j, 'lax $.sum($.a, $.b)')
    JSON_VALUE(j, 'lax $.sum(1, 2)')
    JSON_VALUE(j, 'lax $.a.sum(1, 2)')
    JSON_VALUE(j, 'lax $.a.sum($.a[0])')
    JSON_VALUE(j, 'lax $.length($.a)')
    JSON_VALUE(j, 'lax $.length($.c)')
    JSON_VALUE(j, 'lax $.max($.a)')
    JSON_VALUE(j, 'lax $.min($.zzz)')
    JSON_VALUE(j, 'lax $.concat($.a[0], "x")')
    JSON_VALUE(j, 'lax $.concat($.d[0], "-", $.d[1])')
    JSON_VALUE(j, 'lax $.concat($.d)')
    JSON_VALUE(j, 'lax $.avg($.a, 10)')
    JSON_VALUE(j, 'lax $..a.sum()')
    JSON_VALUE(j, 'lax $..a.length()')
    JSON_VALUE(j, 'strict $..a.length()')
    JSON_VALUE(j, 'lax $..a.max()')
    JSON_VALUE(j, 'lax $..zzz.length()')
    JSON_VALUE(j, 'lax $..a.first()')
    JSON_QUERY(j, 'lax $.a[*].sum()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.c[*].sum()' WITH WRAPPER)
    JSON_QUERY(j, 'strict $.c[*].sum()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.c[*].length()' WITH WRAPPER)
    JSON_QUERY(j, 'strict $.c[*].length()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.c[0,1].length()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.c[0:2].max()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.c[*][0].sum()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.e[*].x.sum()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.e[*].x.length()' WITH WRAPPER)
    JSON_QUERY(j, 'lax $.a.append(9, "x")')
    JSON_QUERY(j, 'lax $.c.keys()' WITH WRAPPER)
    JSON_EXISTS(j, '$.c[*].sum()')
    JSON_EXISTS(j, '$.a[*].sum()')
    JSON_EXISTS(j, 'lax $..a.length()')
    JSON_EXISTS(j, 'lax $.sum($.d)')
    JSON_VALUE(j, 'lax $.sum($.a' DEFAULT 'error' ON ERROR)
    JSON_VALUE(j, 'lax $.sum(nope)' DEFAULT 'error' ON ERROR)
    """,
    table("j STRING", ("""'{"a":[1,2,3],"b":[4],"c":[[1,2],[3]],"d":["p","q"],"e":[{"x":[1]},{"x":[2,3]}]}'""",)),
)
