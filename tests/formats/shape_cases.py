"""Rows that are written by a schema with another row type than their stream."""

from __future__ import annotations

from tests.formats.cases import Case

THREE = ["Types.STRING()", "Types.INT()", "Types.STRING()"]
GIVEN = "Row('x', 7, 'z')"
AVRO_TYPES = {"Types.STRING()": "string", "Types.INT()": "int", "Types.LONG()": "long", "Types.DOUBLE()": "double"}


def named(names: str, types: list[str]) -> str:
    return f"Types.ROW_NAMED({list(names)}, [{', '.join(types)}])"


def unnamed(types: list[str]) -> str:
    return f"Types.ROW([{', '.join(types)}])"


def avro(names: str, types: list[str]) -> str:
    fields = ", ".join(
        f'{{"name": "{name}", "type": "{AVRO_TYPES[item]}"}}' for name, item in zip(names, types, strict=True)
    )
    return f'{{"type": "record", "name": "r", "fields": [{fields}]}}'


STREAMS = [named("abc", THREE), unnamed(THREE)]

SHAPES = [
    ("a", THREE[:1]),
    ("ab", THREE[:2]),
    ("x", THREE[:1]),
    ("xy", THREE[:2]),
    ("xyz", THREE),
    ("c", THREE[:1]),
    ("ac", THREE[::2]),
    ("b", THREE[1:2]),
    ("ba", THREE[1::-1]),
    ("cba", THREE),
    ("abcd", [*THREE, "Types.STRING()"]),
    ("xyzw", [*THREE, "Types.STRING()"]),
    ("a", ["Types.INT()"]),
    ("ab", ["Types.STRING()", "Types.LONG()"]),
    ("ab", ["Types.STRING()", "Types.DOUBLE()"]),
]

PAIR = named("xy", ["Types.INT()", "Types.STRING()"])
FIRST = named("x", ["Types.INT()"])
OTHER = named("u", ["Types.INT()"])

NESTED = [
    (named("rs", [PAIR, "Types.STRING()"]), "Row(Row(1, 'p'), 's')", named("rs", [FIRST, "Types.STRING()"])),
    (named("rs", [PAIR, "Types.STRING()"]), "Row(Row(1, 'p'), 's')", named("r", [OTHER])),
    (named("rs", [PAIR, "Types.STRING()"]), "Row(None, 's')", named("r", [FIRST])),
    (named("l", [f"Types.OBJECT_ARRAY({PAIR})"]), "Row([Row(1, 'p')])", named("l", [f"Types.OBJECT_ARRAY({FIRST})"])),
]

TUPLES = [("Types.TUPLE([Types.STRING(), Types.INT()])", "('x', 7)", named("ab", THREE[:2]))]


def shape_cases() -> list[Case]:
    found = []
    for schema in ("json", "csv"):
        for stream in STREAMS:
            found += [Case(schema, "write", stream, (), GIVEN, None, named(*shape)) for shape in SHAPES]
            found += [Case(schema, "write", stream, (), GIVEN, None, unnamed(THREE[:size])) for size in (1, 2, 3)]
        found += [Case(schema, "write", stream, (), given, None, shape) for stream, given, shape in TUPLES]
    found += [Case("json", "write", stream, (), given, None, shape) for stream, given, shape in NESTED]
    found += [
        Case("avro", "write", stream, (("avro_schema_string", avro(*shape)),), GIVEN, None, named(*shape))
        for stream in STREAMS
        for shape in SHAPES
        if shape[0] != "ac"  # of types alone: Avro takes any value for a text
    ]
    return found
