"""Cases of the formats for PyFlink. Types are written as in a program, see :mod:`tests.formats.notation`."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A case for PyFlink."""

    schema: str
    """``json``, ``csv`` or ``avro``."""
    does: str
    """``read`` a message, or ``write`` a value."""
    type: str
    settings: tuple[tuple[Any, ...], ...]
    """Methods of the builder with their arguments."""
    given: str
    """The message in latin-1, so that it can have any bytes; or the value."""
    via: str | None = None
    """A JSON message from which PyFlink makes the value, if its coders of Python values cannot encode it."""
    written_as: str = ""
    """The type of the writing schema, if the stream has another."""


def row(field: str) -> str:
    return f"Types.ROW_NAMED(['a'], [{field}])"


def message(text: str) -> str:
    return text.encode().decode("latin-1")


INTEGERS = ["Types.BYTE()", "Types.SHORT()", "Types.INT()", "Types.LONG()", "Types.BIG_INT()"]
FRACTIONS = ["Types.FLOAT()", "Types.DOUBLE()", "Types.BIG_DEC()"]
LOCAL = [f"LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_{kind})" for kind in ("DATE", "TIME", "DATE_TIME")]
BYTES = "Types.PRIMITIVE_ARRAY(Types.BYTE())"
PAIR = "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])"
IGNORE = ("ignore_parse_errors",)
MISSING = ("fail_on_missing_field",)

_SQL = ["Types.SQL_DATE()", "Types.SQL_TIME()", "Types.SQL_TIMESTAMP()"]
_ARRAYS = [
    "Types.PRIMITIVE_ARRAY(Types.INT())",
    "Types.PRIMITIVE_ARRAY(Types.DOUBLE())",
    "Types.BASIC_ARRAY(Types.INT())",
    "Types.BASIC_ARRAY(Types.STRING())",
    "Types.OBJECT_ARRAY(Types.LONG())",
    "Types.LIST(Types.INT())",
]

JSON_FIELDS: list[tuple[list[str], list[str]]] = [
    (
        INTEGERS,
        [
            "5",
            "-5",
            '"5"',
            '" 5 "',
            '"+5"',
            "5.7",
            '"5.7"',
            "true",
            '"x"',
            '""',
            "null",
            "[]",
            "{}",
            "1e3",
            '"1e3"',
            "127",
            "128",
            "-128",
            "-129",
            "32767",
            "32768",
            "2147483647",
            "2147483648",
            "-2147483649",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            '"1_0"',
            "1e30",
            "1e400",
            '"99999999999"',
            '"\u0665"',
        ],
    ),
    (
        FRACTIONS,
        [
            "1",
            "1.5",
            '"1.5"',
            '" 1.5 "',
            '"NaN"',
            '"nan"',
            '"Infinity"',
            '"-Infinity"',
            "NaN",
            "Infinity",
            "1e400",
            '"1e400"',
            "1e-400",
            "true",
            '"x"',
            '""',
            "null",
            "[]",
            '"1.5f"',
            '"0x1p3"',
            "123456789.123456789",
            "5e39",
            "1.1",
            "100000000000000000000",
            "1.50",
            "1E+5",
            '"1E+5"',
            "-0.0",
            "0.1",
            '"1_0"',
            '"inf"',
            "16777217",
            "1.10000000000000000000000000000001",
            '"1.50"',
            "100",
            "1.0",
            "12345678901234567890",
            '"+1.5"',
            '".5"',
            '"5."',
        ],
    ),
    (
        ["Types.BOOLEAN()"],
        ["true", "false", '"true"', '"TRUE"', '" true "', '"x"', "1", "0", "1.0", "null", '""', "[]", "{}"],
    ),
    (
        ["Types.STRING()"],
        [
            '"x"',
            "1",
            "1.50",
            "1e5",
            "1e10",
            "true",
            "null",
            "[1, 2]",
            '{"k": 1.0}',
            '"\\u00e9\\ud83d\\ude00"',
            '"é😀"',
            "12345678901234567890123",
            "1e400",
            '""',
            '["é\\n",null,true,{"x":[]}]',
            '"a\\/b\\u0000"',
            "-0.0",
            "0.0001",
        ],
    ),
    (["Types.CHAR()"], ['"x"', '"xy"', '""', "null"]),
    (
        ["Types.SQL_DATE()", LOCAL[0]],
        [
            '"2020-01-02"',
            '"2020-1-2"',
            '"2020-01-02Z"',
            '"20200102"',
            '"2020-02-30"',
            '"2020-01-02 "',
            "18263",
            "null",
            '"2020-01-02T00:00:00"',
            '"x"',
            '""',
            '"1900-01-01"',
            '"9999-12-31"',
            '"2020-13-01"',
            '"\u0662020-01-02"',
            "[]",
        ],
    ),
    (
        ["Types.SQL_TIME()", LOCAL[1]],
        [
            '"01:02:03"',
            '"01:02:03Z"',
            '"01:02:03.5Z"',
            '"01:02:03.123456Z"',
            '"01:02:03.123"',
            '"01:02Z"',
            '"01:02"',
            '"24:00:00Z"',
            '"01:02:03+01:00"',
            '"1:02:03Z"',
            "null",
            "3723000",
            '"01:02:03z"',
            '"01:02:03.Z"',
            '"25:00:00Z"',
            '"23:59:60Z"',
            '"24:00:01Z"',
        ],
    ),
    (
        ["Types.SQL_TIMESTAMP()", LOCAL[2]],
        [
            '"2020-01-02T03:04:05Z"',
            '"2020-01-02T03:04:05.5Z"',
            '"2020-01-02T03:04:05.123Z"',
            '"2020-01-02T03:04:05.123456789Z"',
            '"2020-01-02T03:04:05"',
            '"2020-01-02 03:04:05"',
            '"2020-01-02 03:04:05Z"',
            '"2020-01-02T03:04Z"',
            '"2020-01-02t03:04:05z"',
            '"2020-01-02T03:04:05+01:00"',
            '"2020-01-02T03:04:60Z"',
            '"2020-01-02T24:00:00Z"',
            "1577934245000",
            "null",
            '""',
            '"1960-01-02T03:04:05.123Z"',
            '"2020-02-30T00:00:00Z"',
            '"2020-01-02T03:04:05.1234567891Z"',
        ],
    ),
    (
        ["Types.INSTANT()"],
        [
            '"2020-01-02T03:04:05Z"',
            '"2020-01-02T03:04:05.123456789Z"',
            '"2020-01-02T03:04:05+01:00"',
            '"2020-01-02T03:04:05"',
            '"x"',
            "1577934245",
            "1577934245.5",
            "1577934245123",
            '"1577934245"',
            '"1577934245.5"',
            "null",
            '""',
            '"2020-01-02T03:04Z"',
            "-1.5",
            '"2020-01-02T03:04:05.5-02:30"',
            '"1960-01-02T03:04:05.25Z"',
            "true",
            "[]",
            '" 2020-01-02T03:04:05Z "',
            '"2020-01-02T24:00:00Z"',
        ],
    ),
    (
        [BYTES, "Types.PICKLED_BYTE_ARRAY()"],
        [
            '"YWJj/w=="',
            '"YWJj_w=="',
            '"YWJj/w"',
            '"YW Jj"',
            '"a"',
            "1",
            "null",
            "[1,2]",
            '"gASVBwAAAAAAAABDA2FiY5Qu"',
            '""',
            '"YWJj\\n"',
            "{}",
        ],
    ),
    (_ARRAYS, ["[1,2]", "[1,null]", '["1",2.7]', "null", "5", "{}", "[]", '"x"', '["x"]', "[4000000000]"]),
    (
        ["Types.MAP(Types.STRING(), Types.INT())"],
        ['{"k":1,"l":null}', "{}", "null", "[]", "5", '{"k":"x"}', '{"k":"7"}'],
    ),
    (["Types.MAP(Types.INT(), Types.STRING())"], ['{"1":"x"}', '{"x":"y"}']),
    (["Types.MAP(Types.STRING(), Types.OBJECT_ARRAY(Types.INT()))"], ['{"k":[1]}']),
    ([f"Types.MAP(Types.STRING(), {PAIR})"], ['{"k":{"a":1}}', '{"k":null}']),
    (
        ["Types.TUPLE([Types.INT(), Types.STRING()])"],
        ['[1,"x"]', '{"f0":1,"f1":"x"}', '{"f0":1,"f1":"x","arity":2}', '{"f0":1}', "null"],
    ),
    (
        [f"Types.LIST({PAIR})", f"Types.OBJECT_ARRAY({PAIR})"],
        ['[{"a":1}]', "[null]", '[{"a":"zz"}]', "[[]]", "[5]", "{}"],
    ),
    (["Types.OBJECT_ARRAY(Types.OBJECT_ARRAY(Types.INT()))"], ["[[1],[]]", "[null]", "[5]"]),
    (["Types.OBJECT_ARRAY(Types.MAP(Types.STRING(), Types.STRING()))"], ['[{"a":"b"}]']),
    (["Types.ROW([Types.INT()])"], ['{"f0":1}']),
    ([PAIR], ['{"a":1,"b":"x"}', '{"a":"zz"}', "null", "5", '"x"', "[]", "{}", "[1]"]),
]

JSON_MESSAGES = [
    message(text)
    for text in (
        *(
            '{"a":1}',
            '{"b":"x"}',
            "{}",
            '{"a":1,"b":null}',
            '{"a":null,"b":"x"}',
            '{"a":"zz","b":"x"}',
            '{"a":1,"b":"x","c":3}',
        ),
        *(
            '{"a":1,"a":2}',
            '{"A":1}',
            "null",
            "[]",
            "5",
            '"x"',
            "",
            "  ",
            '{"a":1} x',
            '{"a":1}{"a":2}',
            '{"a":1',
            "{a:1}",
            "{'a':1}",
        ),
        *(
            '{"a":01}',
            '{"a":1,}',
            '// c\n{"a":1}',
            '{"b":"a\tb"}',
            '{"b":"a\nb"}',
            '{"b":"\\q"}',
            '{"a":+1}',
            '{"a":.5}',
            '{"a":1.}',
        ),
        *(
            '{"a":-0}',
            "[1,2]",
            '[{"a":1}]',
            '{"a":Infinity}',
            ' {"a" : 1 } \n',
            '\ufeff{"a":1}',
            '{"b":"\u00e9"}',
            '{"b":true}',
            "true",
            "nul",
        ),
        *('{"a":tru}', '{"c":[[[1]]]}', '{"b":"\x7f"}', '{"b":"\\u12"}', '{"a":NaN}'),
    )
] + [
    '{"a":1,"b":"\xff"}',
    '{"a":1}'.encode("utf-16").decode("latin-1"),
    '{"a":1}'.encode("utf-16-be").decode("latin-1"),
]

_POINT = "datetime(2020, 1, 2, 3, 4, 5%s)"
JSON_VALUES: list[tuple[str, list[str]]] = [
    ("Types.BOOLEAN()", ["True", "False", "None"]),
    ("Types.BYTE()", ["-3", "None"]),
    ("Types.SHORT()", ["300"]),
    ("Types.INT()", ["5", "None"]),
    ("Types.LONG()", ["2**40", "-(2**63)"]),
    ("Types.FLOAT()", ["1.1", "1e10", "0.0001", "nan", "inf", "-0.0", "16777216.0", "3.4e38", "None"]),
    (
        "Types.DOUBLE()",
        ["1.1", "1e10", "1e7", "9999999.0", "0.001", "0.0001", "nan", "-inf", "-0.0", "1e300", "123456789.125", "None"],
    ),
    (
        "Types.BIG_DEC()",
        ["Decimal('1.50')", "Decimal('1E+5')", "Decimal('1E-10')", "Decimal('-12345678901234567890.123')", "None"],
    ),
    (
        "Types.STRING()",
        [repr("\u00e9\"\\/\n\r\t\b\f\x01\x1f\u2028\U0001f600\x7f<>&'"), "''", "None", repr("\ud7ff\ue000")],
    ),
    ("Types.SQL_DATE()", ["date(2020, 1, 2)", "date(1, 1, 1)", "None"]),
    ("Types.SQL_TIME()", ["time(1, 2, 3)", "time(1, 2, 3, 4000)", "time(0, 0)", "None"]),
    (
        "Types.SQL_TIMESTAMP()",
        [_POINT % rest for rest in ("", ", 6000", ", 120000", ", 500000")]
        + ["datetime(2020, 1, 2)", "datetime(1960, 1, 2, 3, 4, 5, 6000)", "None"],
    ),
    ("Types.INSTANT()", ["Instant(5, 7)", "Instant(1577934245, 500000000)", "Instant(-1, 0)", "None"]),
    ("Types.PICKLED_BYTE_ARRAY()", ["b'abc'", "[1, 'x']"]),
    (BYTES, ["b'abc\\xff'", "b''", "None"]),
    ("Types.PRIMITIVE_ARRAY(Types.INT())", ["[1, 2]", "[]"]),
    ("Types.PRIMITIVE_ARRAY(Types.DOUBLE())", ["[1.0, nan]"]),
    ("Types.BASIC_ARRAY(Types.STRING())", ["['a', None]"]),
    ("Types.BASIC_ARRAY(Types.INT())", ["[1, None]"]),
    ("Types.OBJECT_ARRAY(Types.STRING())", ["['a', 'b']", "None"]),
    (f"Types.OBJECT_ARRAY({PAIR})", ["[Row(1, 'x'), Row(2, None)]"]),
    ("Types.MAP(Types.STRING(), Types.INT())", ["{'k': 1}", "{'k': None}", "{}"]),
    ("Types.MAP(Types.INT(), Types.STRING())", ["{1: 'x'}"]),
    (f"Types.MAP(Types.STRING(), {PAIR})", ["{'k': Row(1, 'x')}"]),
    (PAIR, ["Row(1, 'x')", "Row(None, None)"]),
    ("Types.TUPLE([Types.INT(), Types.STRING()])", ["(1, 'x')"]),
    ("Types.ROW([Types.INT()])", ["Row(1)"]),
]
JSON_VALUES_VIA: list[tuple[str, str, str]] = [
    ("Types.BIG_INT()", "2**70", str(2**70)),
    ("Types.CHAR()", "'x'", '"x"'),
    ("Types.LIST(Types.INT())", "[1, 2]", "[1,2]"),
    ("Types.OBJECT_ARRAY(Types.OBJECT_ARRAY(Types.INT()))", "[[1], [], None]", "[[1],[],null]"),
    (LOCAL[0], "date(2020, 1, 2)", '"2020-01-02"'),
    (LOCAL[1], "time(1, 2, 3)", '"01:02:03Z"'),
    (LOCAL[2], "datetime(2020, 1, 2, 3, 4, 5)", '"2020-01-02T03:04:05Z"'),
    (LOCAL[2], "datetime(2020, 1, 2, 3, 4, 5, 123456)", '"2020-01-02T03:04:05.123456Z"'),
]

SCHEMAS = [
    '{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"number"},"c":{"type":"string"},"d":{"type":"boolean"}}}',
    '{"type":"object","properties":{"d":{"type":"string","format":"date"},"t":{"type":"string","format":"time"},"dt":{"type":"string","format":"date-time"}}}',
    '{"type":"object","properties":{"b":{"type":"string","contentEncoding":"base64"},"x":{"type":"string","format":"uuid"}}}',
    '{"type":"object","properties":{"b":{"type":"string","contentEncoding":"base32"}}}',
    '{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}},"n":{"type":"array","items":{"type":"number"}}}}',
    '{"type":"object","properties":{"l":{"type":"array","items":{"type":"boolean"}},"n":{"type":"array","items":{"type":"array","items":{"type":"string"}}}}}',
    '{"type":"object","properties":{"tu":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}',
    '{"type":"object","properties":{"tu":{"type":"array","items":[{"type":"string"}],"additionalItems":true}}}',
    '{"type":"object","properties":{"o":{"type":"object","properties":{"q":{"type":"integer"}}}}}',
    '{"type":"object","properties":{"n":{"type":["string","null"]},"m":{"type":["null","integer"]}}}',
    '{"type":"object","properties":{"m":{"oneOf":[{"type":"null"},{"type":"string"}]}}}',
    '{"type":"object","properties":{"r":{"$ref":"#/definitions/z"}},"definitions":{"z":{"type":"object","properties":{"w":{"type":"number"}}}}}',
    '{"type":"object","properties":{"r":{"$ref":"#/definitions/y"}},"definitions":{"z":{"type":"string"}}}',
    '{"type":"object","properties":{"n":{"type":["string","integer"]}}}',
    '{"type":"object","properties":{}}',
    '{"type":"object"}',
    '{"properties":{"a":{"type":"string"}}}',
    '{"type":"object","properties":{"a":{}}}',
    '{"type":"object","properties":{"a":{"type":"array"}}}',
    '{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}',
    '{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}',
    '{"type":"object","properties":{"a":{"type":"foo"}}}',
    '{"type":"object","properties":{"m":{"oneOf":[{"type":"integer"},{"type":"string"}]}}}',
    '{"type":"object","properties":{"m":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}',
    '{"type":"object","properties":{"r":{"$ref":"x.json"}}}',
    '{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"q":{"type":"integer"}}}}}}',
    "[]",
    "{",
    '{"type":"string"}',
    '// c\n{"type":"object","properties":{"a":{"type":"string"}}}',
]


def json_cases() -> list[Case]:
    found = []
    for types, texts in JSON_FIELDS:
        for field, text, settings in product(types, texts, ((), (IGNORE,))):
            found.append(Case("json", "read", row(field), settings, message(f'{{"a":{text}}}')))
    modes = product(JSON_MESSAGES, ((), (MISSING,), (IGNORE,)))
    found += [Case("json", "read", PAIR, settings, given) for given, settings in modes]
    nested = f"Types.ROW_NAMED(['r', 'l'], [{PAIR}, Types.OBJECT_ARRAY({PAIR})])"
    for text, settings in product(
        ['{"r":{"a":1},"l":[{"b":"x"}]}', '{"l":[{"a":1,"b":"x"}]}', '{"r":{"a":1,"b":"x"},"l":[{"a":1}]}'],
        ((MISSING,), (MISSING, IGNORE)),
    ):
        found.append(Case("json", "read", nested, settings, text))
    both = "Types.ROW_NAMED(['s', 'd', 'f'], [Types.STRING(), Types.BIG_DEC(), Types.DOUBLE()])"
    for text in ('{"s":1.50,"d":1.50,"f":1.50}', '{"s":1e5,"d":1,"f":1e5}', '{"s":[1.50],"d":1.10,"f":0.1}'):
        found.append(Case("json", "read", both, (), text))
    for field, values in JSON_VALUES:
        found += [Case("json", "write", row(field), (), f"Row({value})") for value in values]
    found += [
        Case("json", "write", row(field), (), f"Row({value})", f'{{"a":{via}}}')
        for field, value, via in JSON_VALUES_VIA
    ]
    found += [
        Case("json", "write", PAIR, (), "None"),
        Case("json", "write", "Types.ROW_NAMED(['a \"\u00e9'], [Types.INT()])", (), "Row(1)"),
    ]
    found += [Case("json", "type", "", (("json_schema", text),), "") for text in SCHEMAS]
    found += [Case("json", "read", field, (), "1") for field in ("Types.INT()", "Types.TUPLE([Types.INT()])")]
    return found
