"""SQL functions and operators over hostile values, in the code that tasks run."""

from __future__ import annotations

import functools
import itertools
import json
import re
import traceback
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutate import mutated
from tests.fuzz.target import ACCEPTED, EQUAL, Target, Violation
from tests.table.hostile import ours, running
from tests.table.hostile import values as v
from tests.table.hostile.tables import PARTS, ROUNDED, TABLES

from flintstream.common._text.java import narrow
from flintstream.common._types import data_types as t
from flintstream.common.types import _make_row
from flintstream.errors import FlintstreamError
from flintstream.table._expressions.codegen import compile_source, source
from flintstream.table._expressions.expr import Column
from flintstream.table._expressions.functions import FUNCTIONS
from flintstream.table._expressions.helpers import fit
from flintstream.table._expressions.resolver import resolve
from flintstream.table._expressions.scope import Scope
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import INTEGERS, TEXTS, IntervalType, is_nullable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from flintstream.common._types.data_types import DataType

T = t.DataTypes
_ROW = T.ROW([T.FIELD("a", T.INT()), T.FIELD("b", T.STRING())])
TYPES: dict[str, DataType] = {
    "BOOLEAN": T.BOOLEAN(),
    "TINYINT": T.TINYINT(),
    "SMALLINT": T.SMALLINT(),
    "INT": T.INT(),
    "BIGINT": T.BIGINT(),
    "FLOAT": T.FLOAT(),
    "DOUBLE": T.DOUBLE(),
    "DECIMAL(38,0)": T.DECIMAL(38, 0),
    "DECIMAL(38,18)": T.DECIMAL(38, 18),
    "DECIMAL(10,2)": T.DECIMAL(10, 2),
    "STRING": T.STRING(),
    "BYTES": T.BYTES(),
    "DATE": T.DATE(),
    "TIME": T.TIME(),
    "TIMESTAMP(3)": T.TIMESTAMP(3),
    "TIMESTAMP_LTZ(3)": T.TIMESTAMP_LTZ(3),
    "INTERVAL MONTH": IntervalType(months=True),
    "INTERVAL SECOND": IntervalType(),
    "ARRAY<STRING>": T.ARRAY(T.STRING()),
    "ARRAY<INT>": T.ARRAY(T.INT()),
    "ARRAY<DOUBLE>": T.ARRAY(T.DOUBLE()),
    "ARRAY<ARRAY<INT>>": T.ARRAY(T.ARRAY(T.INT())),
    "MAP<STRING, INT>": T.MAP(T.STRING(), T.INT()),
    "ROW": _ROW,
}
_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(38,0)",
    "DECIMAL(38,18)",
    "DECIMAL(10,2)",
)
_ARRAYS = ("ARRAY<STRING>", "ARRAY<INT>", "ARRAY<DOUBLE>", "ARRAY<ARRAY<INT>>")
_TAKEN: dict[str, Sequence[str]] = {
    "STRING": ("STRING",),
    "STRING or BYTES": ("STRING", "BYTES"),
    "INT": ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    "number": _NUMBERS,
    "BOOLEAN": ("BOOLEAN",),
    "TIMESTAMP": ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"),
    "DATE or TIMESTAMP": ("DATE", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"),
    "TIME": ("TIME",),
    "INTERVAL": ("INTERVAL MONTH", "INTERVAL SECOND"),
    "ARRAY": _ARRAYS,
    "ARRAY of STRING": ("ARRAY<STRING>",),
    "MAP": ("MAP<STRING, INT>",),
    "any": tuple(TYPES),
    "any but an interval": tuple(name for name in TYPES if "INTERVAL" not in name),
    "path": ("STRING",),
    "unit": ("STRING",),
}
"""The types of what a function takes, by the words of its messages."""
_TEXTS = tuple(
    dict.fromkeys(
        itertools.chain(
            *(v.TEXTS, v.SHORT_TEXTS, v.PATTERNS, v.ZONES, v.FORMATS, v.TIME_TEXTS),
            *(v.CHARSETS, v.URL_PARTS, v.DOCUMENTS, v.PATHS),
        )
    )
)
_POOLS: dict[str, Sequence[str | None]] = {
    "BOOLEAN": ("true", "false", None),
    "TINYINT": v.TINY,
    "SMALLINT": v.SMALL,
    "INT": v.INTS,
    "BIGINT": v.BIGS,
    "FLOAT": v.FLOATS,
    "DOUBLE": v.DOUBLES,
    "DECIMAL(38,0)": v.WIDE,
    "DECIMAL(38,18)": v.FINE,
    "DECIMAL(10,2)": v.MONEY,
    "STRING": _TEXTS,
    "BYTES": _TEXTS,
    "DATE": v.DATES,
    "TIME": v.CLOCKS,
    "TIMESTAMP(3)": v.STAMPS,
    "TIMESTAMP_LTZ(3)": v.STAMPS,
    "INTERVAL MONTH": v.INTS,
    "INTERVAL SECOND": v.BIGS[:6],
}
_READ: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "INTERVAL MONTH", "INTERVAL SECOND"), int),
    "BOOLEAN": lambda text: text == "true",
    "DOUBLE": float,
    **dict.fromkeys(("DECIMAL(38,0)", "DECIMAL(38,18)", "DECIMAL(10,2)"), Decimal),
    "STRING": str,
    "BYTES": lambda text: text.encode("utf-8", "surrogatepass"),
    "DATE": date.fromisoformat,
    "TIME": time.fromisoformat,
    **dict.fromkeys(("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"), datetime.fromisoformat),
}
_UNITS = {"EXTRACT": 0, "TIMESTAMPADD": 0, "TIMESTAMPDIFF": 0, "FLOOR TO": 1, "CEIL TO": 1}
"""The positions of units, which are words of the statement."""
_JSON: dict[str, tuple[tuple[str | None, ...], ...]] = {
    "JSON_VALUE": ((None,), ("NULL", "ERROR", "DEFAULT"), (None,), ("NULL", "ERROR", "DEFAULT"), (None,)),
    "JSON_QUERY": (
        (None,),
        ("WITHOUT_ARRAY", "CONDITIONAL_ARRAY", "UNCONDITIONAL_ARRAY"),
        ("NULL", "EMPTY ARRAY", "EMPTY OBJECT", "ERROR"),
        ("NULL", "EMPTY ARRAY", "ERROR"),
    ),
    "JSON_EXISTS": (("TRUE", "FALSE", "UNKNOWN", "ERROR"),),
}
"""The words that follow a document and a path."""
_CASTS = {"CAST": False, "TRY_CAST": True}


def _is_generated(takes: str) -> bool:
    """Tell whether all that a function takes can be generated: bitmaps, documents and objects cannot."""
    words = ", ".join(re.findall(r"\(([^()]*)\)", takes)).replace(" [optional]", "").split(", ")
    return all(word in {*_TAKEN, "", "..."} or word.startswith("KEY") for word in words)


NAMES = (
    *(name for name, function in FUNCTIONS.items() if _is_generated(function.takes)),
    *(f"{word} AS {name}" for word in _CASTS for name in TYPES),
)
_SCOPE_ZONES = ("UTC", "Europe/Berlin", "Asia/Tokyo")


class Functions(Target):
    """One call of a function or operator: an error only where Flink has one, in words, and else a value of the type."""

    name = "sql-functions"
    share = 8

    def valid(self) -> list[bytes]:
        return [
            _input("UPPER", ["STRING"], ["a"], result="'A'"),
            _input("+", ["INT", "INT"], ["2147483647", "1"], result="-2147483648"),
            _input("TRY_CAST AS INT", ["STRING"], ["x"], result="None"),
            _input("DATE_FORMAT", ["TIMESTAMP(3)", "STRING"], ["2020-02-29 13:14:15.678", "ppppH"], result="'  13'"),
        ]

    def input(self, random: Random, number: int) -> bytes:
        return self.corpus[number] if number < len(self.corpus) else _generated(random)

    def check(self, data: bytes) -> str:
        given = json.loads(data)
        function, names, texts = given["function"], given["types"], given["values"]
        values = [_value(name, text) for name, text in zip(names, texts, strict=True)]
        columns = tuple(Column(f"c{i}", TYPES[name]) for i, name in enumerate(names))
        arguments: list[s.Syntax] = [
            s.Value(None, value, TYPES[name]) if i in given["constants"] else s.Name(None, (f"c{i}",))
            for i, (name, value) in enumerate(zip(names, values, strict=True))
        ]
        for position, word in given["words"]:
            arguments.insert(position, s.Value(None, word, T.STRING() if word is not None else t.NullType()))
        expression = resolve(_syntax(function, tuple(arguments)), Scope(columns, zone=given["zone"]))
        run = compile_source(source([expression], None, stamped=False))
        found: list[Any] = []
        try:
            run([tuple(values)], found.append)
        except (ValueError, ArithmeticError, LookupError) as error:
            if _is_in_words(error) and (_may_fail(function) or _casts_texts(function, names)):
                raise SaidInWordsError(str(error)) from error
            raise
        _check_type(found[0][0], expression.type)
        return EQUAL if given["result"] and given["result"] == repr(found[0][0]) else ACCEPTED


class SaidInWordsError(FlintstreamError):
    """A function refused a value of a record, as that of Flink does."""


def _syntax(function: str, arguments: tuple[s.Syntax, ...]) -> s.Syntax:
    word, _, kind = function.partition(" AS ")
    return s.Convert(None, arguments[0], TYPES[kind], _CASTS[word]) if kind else s.Apply(None, function, arguments)


def _is_in_words(error: BaseException) -> bool:
    """Tell whether the code under test wrote the error, and not the interpreter."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = last.line or ""
    if last.filename == json.decoder.__file__:  # of ERROR ON ERROR
        return True
    return line.startswith("raise ") and bool(str(error))


@functools.cache
def _failing() -> frozenset[str]:
    """Return the functions and operators that fail for some value in what was recorded of PyFlink."""
    texts = [
        expression
        for table in TABLES
        for expression, column in ours.recorded(table).items()
        if running.ERROR in column["values"]
    ]
    return frozenset(word for text in texts for word in re.findall(r"[A-Z_0-9]+(?=\()|[/%]", text)) - {"NULLIF"}


_FAILS_ELSEWHERE = {
    "PARSE_JSON",
    *(
        "REPEAT",
        "LPAD",
        "RPAD",
        "REPLACE",
        "REGEXP_REPLACE",
        "CONCAT",
        "CONCAT_WS",
        "||",
        "PRINTF",
    ),  # texts get too long
    *("MOD", "MAP_FROM_ARRAYS", "ELEMENT"),  # zero as divisor; more keys than values; several elements
    *("SIMILAR TO", "LIKE ESCAPE"),  # patterns that cannot be read
    *("JSON_VALUE", "JSON_QUERY", "JSON_EXISTS"),  # ERROR ON ERROR
    *("JSON_STRING", "JSON_OBJECT", "JSON_ARRAY"),  # NULL as a key
    "RAND_INTEGER",  # no numbers below zero
}
"""Functions that fail in Flink for values that the recorded tables do not have."""


def _may_fail(function: str) -> bool:
    return function.partition(" AS ")[0] in _failing() | _FAILS_ELSEWHERE


def _casts_texts(function: str, types: Sequence[str]) -> bool:
    """Tell whether texts become values of another type, as in ``text = DATE '2020-01-31'``."""
    known = FUNCTIONS.get(function)
    return known is not None and "any" in known.takes and "STRING" in types and len(set(types)) > 1


# -- values ------------------------------------------------------------------------------------------------------------


def _input(function: str, types: Sequence[str], values: Sequence[Any], **more: Any) -> bytes:
    given = {"function": function, "types": types, "values": values}
    return json.dumps({**given, "constants": [], "words": [], "zone": "UTC", "result": "", **more}).encode()


def _generated(random: Random) -> bytes:
    function = random.choice(NAMES)
    word, _, kind = function.partition(" AS ")
    types = [random.choice(tuple(TYPES))] if kind else _types(random, FUNCTIONS[word].takes)
    words: list[tuple[int, str | None]] = []
    if function in _UNITS:
        words = [(_UNITS[function], random.choice(f"{PARTS} {ROUNDED}".split()))]
        del types[_UNITS[function] : _UNITS[function] + 1]
    if function in _JSON:
        words = [(2 + i, random.choice(item)) for i, item in enumerate(_JSON[function])]
    if function in {"JSON_OBJECT", "JSON_ARRAY"}:
        types = types[-1:]
        words = [(0, random.choice(("NULL", "ABSENT"))), *([(1, "key")] if function == "JSON_OBJECT" else [])]
    constants = [i for i in range(len(types)) if random.random() < 0.15]
    texts = [_text(random, name) for name in types]
    return _input(function, types, texts, constants=constants, words=words, zone=random.choice(_SCOPE_ZONES))


def _types(random: Random, takes: str) -> list[str]:
    """Return types that a function takes, by the words of its messages; any two of ``any`` are mostly the same."""
    words = random.choice(re.findall(r"\(([^()]*)\)", takes)).split(", ")
    alike = random.choice(_TAKEN["any"]) if random.random() < 0.8 else ""
    array = random.choice(_TAKEN["ARRAY"])
    if "any" in words and "ARRAY" in words:
        alike = array[6:-1]
    types: list[str] = []
    for word in words:
        if word == "...":
            types += types[-1:] * random.choice((0, 0, 1, 3))
        elif word.endswith(" [optional]") and random.random() < 0.4:
            break
        elif word and not word.startswith("KEY"):
            bare = word.removesuffix(" [optional]")
            types.append(
                array if bare == "ARRAY" else alike if alike and bare == "any" else random.choice(_TAKEN[bare])
            )
        elif word:
            types += ["STRING", random.choice(_TAKEN["any but an interval"])]
    return types


def _text(random: Random, name: str) -> Any:
    """Return a value as a file has it: a text; a list of them for what has parts."""
    if random.random() < 0.1:
        return None
    if name.startswith("ARRAY"):
        return [_text(random, name[6:-1]) for _ in range(random.choice((0, 1, 2, 3, 9)))]
    if name.startswith("MAP"):
        return [[_text(random, "STRING"), _text(random, "INT")] for _ in range(random.choice((0, 1, 2)))]
    if name == "ROW":
        return [_text(random, "INT"), _text(random, "STRING")]
    text = random.choice(_POOLS[name])
    if text is None or random.random() < 0.6:
        return text
    if name in {"STRING", "BYTES"}:
        return mutated(random, text[:5000].encode("utf-8", "surrogatepass"), [b"a"])[:20_000].decode("utf-8", "replace")
    return _number(random, name, text)


def _number(random: Random, name: str, text: str) -> str:
    """Return another value of a type of numbers."""
    kind = type(TYPES[name])
    if kind in INTEGERS:
        bits = INTEGERS[kind]
        return str(random.randrange(-(1 << (bits - 1)), 1 << (bits - 1)) >> random.randrange(bits))
    if name == "DOUBLE":
        return repr(random.uniform(-1, 1) * 10.0 ** random.randrange(-320, 308))
    if name.startswith("DECIMAL"):
        precision, scale = map(int, name[8:-1].split(","))
        return str(Decimal(random.randrange(10 ** random.randrange(1, precision + 1))).scaleb(-scale))
    return text


def _value(name: str, text: Any) -> Any:
    """Return what a record has."""
    if text is None:
        return None
    if name.startswith("ARRAY"):
        return [_value(name[6:-1], item) for item in text]
    if name.startswith("MAP"):
        return {_value("STRING", key): _value("INT", value) for key, value in text}
    if name == "ROW":
        return _make_row(("a", "b"), [_value("INT", text[0]), _value("STRING", text[1])])
    if name.startswith("DECIMAL"):
        return fit(Decimal(text), *map(int, name[8:-1].split(",")))
    if name == "FLOAT":
        return narrow(float(text))
    return _READ[name](text)


_KINDS: tuple[tuple[Any, type | tuple[type, ...]], ...] = (
    (TEXTS, str),
    ((t.BinaryType, t.VarBinaryType), (bytes, bytearray)),
    (t.BooleanType, bool),
    ((t.FloatType, t.DoubleType), float),
    (t.DecimalType, Decimal),
    (t.TimestampType, datetime),
    (t.TimeType, time),
    (t.ArrayType, (list, tuple)),
    ((t.MapType, t.MultisetType), dict),
)


def _check_type(value: Any, kind: DataType) -> None:
    """Raise a violation if a value is not of its type."""
    if value is None:
        if not is_nullable(kind) and not isinstance(kind, t.NullType):
            raise Violation(f"None, and the type is {kind!r}")
        return
    if type(kind) in INTEGERS:
        bits = INTEGERS[type(kind)]
        fits = type(value) is int and -(1 << (bits - 1)) <= value < 1 << (bits - 1)
    elif isinstance(kind, t.DecimalType):
        fits = isinstance(value, Decimal) and fit(value, kind.precision, kind.scale) is not None
    else:
        fits = all(isinstance(value, wanted) for kinds, wanted in _KINDS if isinstance(kind, kinds))
    if not fits:
        raise Violation(f"{value!r:.200} is not of the type {kind!r}")
    if isinstance(kind, t.ArrayType):
        for item in value:
            _check_type(item, kind.element_type)
    if isinstance(kind, t.MapType):
        for key, item in value.items():
            _check_type(key, kind.key_type.nullable())
            _check_type(item, kind.value_type)


TARGETS: tuple[type[Target], ...] = (Functions,)
