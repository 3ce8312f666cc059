"""Cases of Avro for PyFlink."""

from __future__ import annotations

import json

from tests.formats.cases import BYTES, PAIR, Case, row

SIMPLE: list[tuple[object, str, list[str]]] = [
    ("null", "Types.STRING()", ["None"]),
    ("boolean", "Types.BOOLEAN()", ["True", "False"]),
    ("int", "Types.INT()", ["5", "-1", "2147483647"]),
    ("long", "Types.LONG()", ["2**40", "-1"]),
    ("float", "Types.FLOAT()", ["1.5"]),
    ("double", "Types.DOUBLE()", ["1.1", "nan"]),
    ("string", "Types.STRING()", ["'\u00e9'", "''", "None"]),
    ("bytes", BYTES, ["b'a\\xff'", "None"]),
    ({"type": "fixed", "name": "f", "size": 2}, BYTES, ["b'ab'", "b'abc'"]),
    ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, "Types.STRING()", ["'A'", "'C'"]),
    ({"type": "array", "items": "int"}, "Types.OBJECT_ARRAY(Types.INT())", ["[1, 2]", "[]"]),
    ({"type": "array", "items": ["null", "string"]}, "Types.OBJECT_ARRAY(Types.STRING())", ["['a', None]"]),
    ({"type": "map", "values": "int"}, "Types.MAP(Types.STRING(), Types.INT())", ["{'k': 1}", "{}"]),
    (["null", "int"], "Types.INT()", ["5", "None"]),
    (["int", "null"], "Types.INT()", ["5", "None"]),
    (["null", "string"], "Types.STRING()", ["'x'", "None"]),
    (["null", "int", "string"], "Types.PICKLED_BYTE_ARRAY()", []),
    ({"type": "int", "logicalType": "date"}, "Types.SQL_DATE()", ["date(2020, 1, 2)"]),
    ({"type": "int", "logicalType": "time-millis"}, "Types.SQL_TIME()", ["time(1, 2, 3)", "time(1, 2, 3, 4000)"]),
    ({"type": "long", "logicalType": "time-micros"}, "Types.SQL_TIME()", ["time(1, 2, 3)"]),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        "Types.SQL_TIMESTAMP()",
        ["datetime(2020, 1, 2, 3, 4, 5, 6000)"],
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
        "Types.SQL_TIMESTAMP()",
        ["datetime(2020, 1, 2, 3, 4, 5, 6000)"],
    ),
    (
        {"type": "long", "logicalType": "local-timestamp-millis"},
        "Types.SQL_TIMESTAMP()",
        ["datetime(2020, 1, 2, 3, 4, 5, 6000)"],
    ),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
        "Types.BIG_DEC()",
        ["Decimal('1.50')", "Decimal('-1.5')", "Decimal('1.555')"],
    ),
    (
        {"type": "fixed", "name": "d", "size": 4, "logicalType": "decimal", "precision": 6, "scale": 2},
        "Types.BIG_DEC()",
        ["Decimal('1.50')", "Decimal('-1.50')"],
    ),
    (
        {
            "type": "record",
            "name": "p",
            "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": ["null", "string"]}],
        },
        PAIR,
        ["Row(1, 'x')", "Row(1, None)", "None"],
    ),
    ({"type": "string", "logicalType": "uuid"}, "Types.STRING()", ["'a'"]),
]

MESSAGES: list[tuple[object, list[bytes]]] = [
    ("int", [b"\x0a", b"", b"\xff", b"\x0a\x0a", b"\xff\xff\xff\xff\xff\xff"]),
    ("long", [b"\x0a", b"\x80\x80\x80\x80\x80\x40"]),
    ("boolean", [b"\x00", b"\x01", b"\x02"]),
    ("float", [b"\x00\x00\xc0\x3f"]),
    ("double", [b"\x00\x00\x00\x00\x00\x00\xf8\x3f", b"\x00"]),
    ("string", [b"\x02x", b"\x00", b"\x04x", b"\x02\xff"]),
    ("bytes", [b"\x02x", b"\x00"]),
    ("null", [b""]),
    ({"type": "fixed", "name": "f", "size": 2}, [b"ab", b"a"]),
    ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, [b"\x00", b"\x02", b"\x04"]),
    ({"type": "array", "items": "int"}, [b"\x04\x02\x04\x00", b"\x00", b"\x03\x04\x02\x04\x00"]),
    ({"type": "map", "values": "int"}, [b"\x02\x02k\x02\x00", b"\x00"]),
    (["null", "int"], [b"\x00", b"\x02\x0a", b"\x04"]),
    (["null", "int", "string"], [b"\x00", b"\x02\x0a", b"\x04\x02x"]),
    ({"type": "int", "logicalType": "date"}, [b"\x02"]),
    ({"type": "int", "logicalType": "time-millis"}, [b"\x80\x01", b"\xd0\x0f"]),
    ({"type": "long", "logicalType": "time-micros"}, [b"\x80\x89\x7a"]),
    ({"type": "long", "logicalType": "timestamp-millis"}, [b"\x02", b"\x01"]),
    ({"type": "long", "logicalType": "timestamp-micros"}, [b"\xd0\x0f"]),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, [b"\x02"]),
    ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}, [b"\x04\x00\x96", b"\x02\x96", b"\x00"]),
    ({"type": "string", "logicalType": "uuid"}, [b"\x02x"]),
    (
        {
            "type": "record",
            "name": "p",
            "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": ["null", "string"]}],
        },
        [b"\x02\x02\x02x", b"\x02\x00"],
    ),
    (
        {"type": "array", "items": {"type": "record", "name": "q", "fields": [{"name": "a", "type": "int"}]}},
        [b"\x02\x02\x00"],
    ),
]


def schema(field: object) -> tuple[tuple[str, str]]:
    return (("avro", json.dumps({"type": "record", "name": "r", "fields": [{"name": "a", "type": field}]})),)


def avro_cases() -> list[Case]:
    found = []
    for field, messages in MESSAGES:
        found += [Case("avro", "read", "", schema(field), message.decode("latin-1")) for message in messages]
    for field, kind, values in SIMPLE:
        found += [Case("avro", "write", row(kind), schema(field), f"Row({value})") for value in values]
    found.append(Case("avro", "write", "Types.ROW_NAMED(['b'], [Types.INT()])", schema("int"), "Row(1)"))
    found.append(Case("avro", "write", PAIR, schema("int"), "Row(1, 'x')"))
    return found
