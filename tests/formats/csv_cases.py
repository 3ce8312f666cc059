"""Cases of separated values for PyFlink."""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.formats.cases import BYTES, LOCAL, Case, message, row

CSV_IGNORE: tuple[Any, ...] = ("set_ignore_parse_errors", True)
THREE = "Types.ROW_NAMED(['a', 'b', 'c'], [Types.INT(), Types.STRING(), Types.DOUBLE()])"
TEXTS = "Types.ROW_NAMED(['a', 'b', 'c'], [Types.STRING(), Types.STRING(), Types.STRING()])"
NESTED = "Types.ROW_NAMED(['a', 'r'], [Types.INT(), Types.ROW_NAMED(['x', 'y'], [Types.INT(), Types.STRING()])])"
LISTED = "Types.ROW_NAMED(['a', 'l'], [Types.INT(), Types.OBJECT_ARRAY(Types.INT())])"
WORDS = "Types.ROW_NAMED(['a', 'l'], [Types.INT(), Types.BASIC_ARRAY(Types.STRING())])"
ROWS = "Types.ROW_NAMED(['a', 'l'], [Types.INT(), Types.OBJECT_ARRAY(Types.ROW([Types.INT(), Types.STRING()]))])"

CSV_FIELDS: list[tuple[list[str], list[str]]] = [
    (
        [f"Types.{kind}()" for kind in ("BYTE", "SHORT", "INT", "LONG", "BIG_INT")],
        [
            "5",
            "-5",
            '"5"',
            " 5 ",
            "+5",
            "5.7",
            "x",
            "",
            '""',
            "128",
            "40000",
            "2147483648",
            "99999999999999999999",
            "null",
            "1e3",
            "1_0",
        ],
    ),
    (
        [f"Types.{kind}()" for kind in ("FLOAT", "DOUBLE", "BIG_DEC")],
        [
            "1",
            "1.5",
            '"1.5"',
            " 1.5 ",
            "NaN",
            "nan",
            "Infinity",
            "1e400",
            "x",
            "",
            "1.50",
            "1E+5",
            "1.1",
            "null",
            "1.5f",
            "0.10000000000000000000001",
        ],
    ),
    (["Types.BOOLEAN()"], ["true", "TRUE", " true ", "false", "1", "x", ""]),
    (
        ["Types.STRING()"],
        [
            "x",
            " x ",
            '"x"',
            '" x "',
            "",
            '""',
            "null",
            "\u00e9\U0001f600",
            "'x'",
            "a\\b",
            'a"b',
            '"a""b"',
            "#x",
            '"#x"',
        ],
    ),
    (["Types.CHAR()"], ["x"]),
    (
        ["Types.SQL_DATE()", LOCAL[0]],
        ["2020-01-02", "2020-1-2", "2020-02-30", "x", "", " 2020-01-02 ", "2020-01-02T00:00:00"],
    ),
    (
        ["Types.SQL_TIME()", LOCAL[1]],
        ["01:02:03", "1:2:3", "01:02", "01:02:03.5", "01:02:03Z", "24:00:00", "x", "", " 01:02:03 "],
    ),
    (
        ["Types.SQL_TIMESTAMP()", LOCAL[2]],
        [
            "2020-01-02 03:04:05",
            "2020-01-02 03:04:05.5",
            "2020-01-02 03:04:05.123456789",
            "2020-01-02T03:04:05",
            "2020-01-02T03:04:05Z",
            "2020-01-02",
            "2020-1-2 3:4:5",
            "2020-01-02 03:04",
            "x",
            "",
            " 2020-01-02 03:04:05 ",
            "2020-02-30 00:00:00",
            "2020-01-02 24:00:00",
        ],
    ),
    (
        ["Types.INSTANT()"],
        [
            "2020-01-02T03:04:05Z",
            "1577934245",
            "2020-01-02 03:04:05Z",
            "2020-01-02 03:04:05.5Z",
            "2020-01-02 03:04:05.000000007Z",
            "2020-01-02 03:04:05",
            "2020-01-02 03:04Z",
            "2020-01-02 03:04:05+01:00",
            " 2020-01-02 03:04:05Z ",
        ],
    ),
    ([BYTES], ["YWJj/w==", "YWJj_w==", "YWJj/w", "", "!"]),
]

PLAIN = [
    "1,x,1.5",
    "1,x,1.5\n",
    "1,x,1.5\r\n",
    "1,x,1.5\n2,y,2.5",
    "1,x",
    "1",
    "1,x,1.5,9",
    "1,x,1.5,",
    "1,x,",
    ",,",
    "",
    "\n",
    " ",
    "zz,x,1.5",
]
PLAIN += [
    '1,"x,y",1.5',
    '1,"x\ny",1.5',
    '1,"x""y",1.5',
    '1,"x,1.5',
    '1,x"y,1.5',
    '1,"x"y,1.5',
    "1, x ,1.5",
    ' 1 , "x" ,1.5',
    "#1,x,1.5",
    "1,'x',1.5",
]
PLAIN += [
    "1;x;1.5",
    "1\tx\t1.5",
    "1,null,1.5",
    '1,\\"x,1.5',
    '1,"x\\"y",1.5',
    "1,a\\,b,1.5",
    "1,a\\\\b,1.5",
    "\ufeff1,x,1.5",
    "1,x,1.5\n\n",
    "\n1,x,1.5",
]
PLAIN += [
    "#c\n1,x,1.5",
    " #c\n1,x,1.5",
    "1,#x,1.5",
    "1,|x,y|,1.5",
    "1,\\n,1.5",
    "1,N,1.5",
    "N,N,N",
    '1,"N",1.5',
    "1,\\",
    '1,"a\\',
    '1,"",1.5',
    "1,x\r,1.5",
    "1,x\r2",
]
PLAIN += [
    "1,x,1.5,,",
    "1,x,1.5, ",
    '1,x,1.5,""',
    '1,"x" ,1.5',
    '1,"x"\t,1.5',
    '1,"x',
    '1,x,"1.5"',
    "1,x,1.5\r",
    "1,x,1.5,\n",
]

READ_SETTINGS: list[tuple[tuple[Any, ...], ...]] = [
    (),
    (CSV_IGNORE,),
    (("set_allow_comments", True),),
    (("set_field_delimiter", ";"),),
    (("set_field_delimiter", "\t"),),
    (("set_quote_character", "|"),),
    (("set_escape_character", "\\"),),
    (("set_null_literal", "N"),),
    (("set_null_literal", ""),),
    (("set_escape_character", "\\"), ("set_null_literal", "N"), CSV_IGNORE),
]

CSV_VALUES: list[tuple[str, list[str]]] = [
    ("Types.BOOLEAN()", ["True", "None"]),
    ("Types.BYTE()", ["-3"]),
    ("Types.LONG()", ["2**40", "None"]),
    ("Types.FLOAT()", ["1.1", "1e10", "nan"]),
    ("Types.DOUBLE()", ["1.1", "1e10", "0.0001", "-inf"]),
    ("Types.BIG_DEC()", ["Decimal('1.50')", "Decimal('1E+5')", "Decimal('1E-10')", "None"]),
    ("Types.SQL_DATE()", ["date(2020, 1, 2)", "None"]),
    ("Types.SQL_TIME()", ["time(1, 2, 3)"]),
    (
        "Types.SQL_TIMESTAMP()",
        [
            "datetime(2020, 1, 2, 3, 4, 5)",
            "datetime(2020, 1, 2, 3, 4, 5, 6000)",
            "datetime(2020, 1, 2)",
            "datetime(1960, 1, 2, 3, 4, 5, 120000)",
        ],
    ),
    ("Types.INSTANT()", ["Instant(5, 7)"]),
    (BYTES, ["b'abc\\xff'", "b''"]),
    (
        "Types.STRING()",
        [
            repr(text)
            for text in (
                "",
                " ",
                "x",
                " x ",
                "a,b",
                'a"b',
                "'",
                "a\nb",
                "a\rb",
                "a\tb",
                "#x",
                "a#",
                "null",
                "\u00e9\U0001f600",
                "a;b",
                "a\\b",
                "-",
                "a b",
                "_",
                "1.5",
            )
        ]
        + [
            "None",
            repr("x" * 30),
            repr("x" * 23),
            repr("x" * 24),
            repr("x" * 25),
            repr("A-Z_0.9+/:;<=>?@[]^`{|}~!$%&()*"),
        ],
    ),
    ("Types.BASIC_ARRAY(Types.STRING())", ["['a', None]", "[]", "['a;b']", "['a,b', 'c']", "['']", "None"]),
    ("Types.OBJECT_ARRAY(Types.INT())", ["[1, 2]", "[]", "[1]"]),
    ("Types.PRIMITIVE_ARRAY(Types.INT())", ["[1, 2]"]),
    ("Types.ROW([Types.INT(), Types.STRING()])", ["Row(1, 'x')", "Row(None, 'x')"]),
    ("Types.OBJECT_ARRAY(Types.ROW([Types.INT(), Types.STRING()]))", ["[Row(1, 'x')]"]),
    ("Types.MAP(Types.STRING(), Types.INT())", ["{'k': 1}"]),
    ("Types.TUPLE([Types.INT()])", ["(1,)"]),
]
CSV_VALUES_VIA = [
    ("Types.BIG_INT()", "2**70", str(2**70)),
    ("Types.LIST(Types.INT())", "[1, 2]", "[1,2]"),
    (LOCAL[0], "date(2020, 1, 2)", '"2020-01-02"'),
    (LOCAL[1], "time(1, 2, 3)", '"01:02:03Z"'),
    (LOCAL[2], "datetime(2020, 1, 2, 3, 4, 5, 123000)", '"2020-01-02T03:04:05.123Z"'),
]

WRITE_SETTINGS: list[tuple[tuple[Any, ...], ...]] = [
    (),
    (("set_field_delimiter", "\t"),),
    (("set_field_delimiter", "|"),),
    (("set_field_delimiter", "\t"), ("set_quote_character", "\x01")),
    (("set_field_delimiter", "\t"), ("disable_quote_character",)),
    (("set_escape_character", "/"),),
    (("set_escape_character", "x"), ("set_null_literal", "xN")),
    (("set_array_element_delimiter", "|"),),
    (("set_field_delimiter", ";"),),
    (("set_line_delimiter", "\r\n"),),
    (("set_line_delimiter", "\r"),),
    (("set_line_delimiter", ""),),
    (("set_quote_character", "'"),),
    (("disable_quote_character",),),
    (("set_escape_character", "\\"),),
    (("disable_quote_character",), ("set_escape_character", "\\")),
    (("set_null_literal", "N"),),
    (("set_null_literal", "a,b"),),
]

REFUSED: list[tuple[Any, ...]] = [
    ("set_line_delimiter", "|"),
    ("set_line_delimiter", "\n\n"),
    ("set_field_delimiter", "||"),
    ("set_field_delimiter", ""),
    ("set_quote_character", "''"),
    ("set_null_literal", None),
    ("set_array_element_delimiter", ""),
    ("set_array_element_delimiter", "::"),
]


def csv_cases() -> list[Case]:
    found = []
    for types, texts in CSV_FIELDS:
        for field, text, settings in product(types, texts, ((), (CSV_IGNORE,))):
            found.append(Case("csv", "read", row(field), settings, message(text)))
    for settings, text in product(READ_SETTINGS, PLAIN):
        found.append(Case("csv", "read", THREE, settings, message(text)))
    for text, settings in product(
        ['1,"2;x"', "1,2;x", "1,2", "1,2;x;y", "1,;", "1,", "1,zz;x", "1,2:x"],
        ((), (CSV_IGNORE,), (("set_array_element_delimiter", ":"),)),
    ):
        found.append(Case("csv", "read", NESTED, settings, text))
    delimiters = [
        (),
        (CSV_IGNORE,),
        (("set_array_element_delimiter", ":"),),
        (("set_array_element_delimiter", "::"),),
        (("set_null_literal", "N"),),
    ]
    for field, text, settings in product(
        (LISTED, WORDS, ROWS),
        [
            "1,2;3",
            "1,2",
            "1,",
            '1,"2;3"',
            "1,2;;3",
            "1,2; 3 ",
            "1,zz;3",
            "1,2:3",
            "1,2::3",
            "1,2;N",
            "1,N",
            "1,;",
            "1,2;",
        ],
        delimiters,
    ):
        found.append(Case("csv", "read", field, settings, text))
    found.append(Case("csv", "read", TEXTS, (), '1,"\xff",2'))
    for field, values in CSV_VALUES:
        found += [Case("csv", "write", row(field), (), f"Row({value})") for value in values]
    found += [
        Case("csv", "write", row(field), (), f"Row({value})", f'{{"a":{via}}}') for field, value, via in CSV_VALUES_VIA
    ]
    hard = [
        "x",
        "a,b",
        "a;b",
        'a"b',
        "a'b",
        "a\nb",
        "a\\b",
        "",
        "N",
        None,
        "#",
        " ",
        "a/b",
        "!",
        "|",
        "~",
        "\t",
        "y" * 25,
    ]
    for settings, text in product(WRITE_SETTINGS, hard):
        found.append(Case("csv", "write", TEXTS, settings, f"Row('1', {text!r}, 'z')"))
    for settings in [
        (("set_array_element_delimiter", ":"),),
        (("set_array_element_delimiter", "::"),),
        (("set_null_literal", "N"),),
    ]:
        found.append(Case("csv", "write", WORDS, settings, "Row(1, ['a', 'b', None])"))
        found.append(Case("csv", "write", WORDS, settings, "Row(None, None)"))
    found += [Case("csv", "write", THREE, (), value) for value in ("Row(1, 'x', 1.5)", "Row(None, None, None)", "None")]
    found += [
        Case("csv", does, TEXTS, (setting,), "1,2,3" if does == "read" else "Row('1', '2', '3')")
        for setting in REFUSED
        for does in ("read", "write")
        if does == "write" or setting[0] != "set_line_delimiter"
    ]
    found += [
        Case("csv", "read", field, (), "1")
        for field in ("Types.INT()", "Types.TUPLE([Types.INT()])", row("Types.MAP(Types.STRING(), Types.INT())"))
    ]
    return found
