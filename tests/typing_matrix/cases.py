# mypy: disable-error-code="import-not-found,import-untyped"
"""The declared types, the kinds of Python values and the positions at which a type applies to a value.

Runs on PyFlink, to record what it does, and on flintstream, which serves ``import pyflink``.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime as dt
import enum
import fractions
import pathlib
import sys
import types
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from tests.typing_matrix.api import Instant, LocalTimeTypeInfo, Row, RowKind, Types

# -- classes as programs have them


class Color(str, enum.Enum):
    RED = "red"


if sys.version_info >= (3, 11):

    class Fruit(enum.StrEnum):
        FIG = "fig"

else:

    class Fruit(str, enum.Enum):
        FIG = "fig"
        __str__ = str.__str__


class Plain(enum.Enum):
    ONE = 1


class Level(enum.IntEnum):
    LOW = 1


class Flag(enum.IntFlag):
    A = 1
    B = 4


class Ratio(float, enum.Enum):
    HALF = 0.5


class Text(str):
    """An object whose text differs from its value."""

    __slots__ = ()

    def __str__(self) -> str:
        return "other"


class Number(int):
    def __str__(self) -> str:
        return "other"


class Real(float):
    def __str__(self) -> str:
        return "other"


class Pair(NamedTuple):
    a: int
    b: str


@dataclasses.dataclass
class Data:
    a: int
    b: str


@dataclasses.dataclass(slots=True)
class Slots:
    a: int
    b: str


class Own:
    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "own"


class Lists(list):
    pass


class Tuples(tuple):
    __slots__ = ()


# -- values, made new each time

PLUS_2 = dt.timezone(dt.timedelta(hours=2))

ATOMS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "1": lambda: 1,
    "5": lambda: 5,
    "-7": lambda: -7,
    "200": lambda: 200,
    "256": lambda: 256,
    "70000": lambda: 70_000,
    "2**31": lambda: 2**31,
    "2**40": lambda: 2**40,
    "-2**40": lambda: -(2**40),
    "2**63": lambda: 2**63,
    "2**70": lambda: 2**70,
    "0.0": lambda: 0.0,
    "-0.0": lambda: -0.0,
    "2.0": lambda: 2.0,
    "2.7": lambda: 2.7,
    "-2.7": lambda: -2.7,
    "0.1": lambda: 0.1,
    "0.5": lambda: 0.5,
    "1e10": lambda: 1e10,
    "1e39": lambda: 1e39,
    "1e-50": lambda: 1e-50,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "complex": lambda: 1 + 2j,
    "Fraction": lambda: fractions.Fraction(1, 2),
    "Decimal(5)": lambda: Decimal(5),
    "Decimal(1.50)": lambda: Decimal("1.50"),
    "Decimal(1E+3)": lambda: Decimal("1E+3"),
    "Decimal(long)": lambda: Decimal("12345678901234567890.123456789012345678901"),
    "Decimal(NaN)": lambda: Decimal("NaN"),
    "''": lambda: "",
    "'a'": lambda: "a",
    "'red'": lambda: "red",
    "'5'": lambda: "5",
    "'true'": lambda: "true",
    "'é'": lambda: "é",
    "'emoji'": lambda: "\N{GRINNING FACE}",
    "'nul'": lambda: "a\0b",
    "Text": lambda: Text("inner"),
    "Number": lambda: Number(5),
    "Real": lambda: Real(0.5),
    "(str, Enum)": lambda: Color.RED,
    "StrEnum": lambda: Fruit.FIG,
    "Enum": lambda: Plain.ONE,
    "IntEnum": lambda: Level.LOW,
    "IntFlag": lambda: Flag.A | Flag.B,
    "(float, Enum)": lambda: Ratio.HALF,
    "bytes": lambda: b"ab",
    "bytes(high)": lambda: b"\x00\xff\x80",
    "bytearray": lambda: bytearray(b"ab"),
    "memoryview": lambda: memoryview(b"ab"),
    "date": lambda: dt.date(2020, 2, 3),
    "date(1900)": lambda: dt.date(1900, 1, 1),
    "time": lambda: dt.time(1, 2, 3),
    "time(ms)": lambda: dt.time(1, 2, 3, 4000),
    "time(us)": lambda: dt.time(1, 2, 3, 4005),
    "time(utc)": lambda: dt.time(1, 2, 3, tzinfo=dt.timezone.utc),
    "time(+2)": lambda: dt.time(1, 2, 3, tzinfo=PLUS_2),
    "datetime": lambda: dt.datetime(2020, 2, 3, 4, 5, 6),
    "datetime(midnight)": lambda: dt.datetime(2020, 2, 3),
    "datetime(ms)": lambda: dt.datetime(2020, 2, 3, 4, 5, 6, 7000),
    "datetime(us)": lambda: dt.datetime(2020, 2, 3, 4, 5, 6, 7008),
    "datetime(1960)": lambda: dt.datetime(1960, 2, 3, 4, 5, 6, 7000),
    "datetime(utc)": lambda: dt.datetime(2020, 2, 3, 4, 5, 6, tzinfo=dt.timezone.utc),
    "datetime(+2)": lambda: dt.datetime(2020, 2, 3, 4, 5, 6, tzinfo=PLUS_2),
    "timedelta": lambda: dt.timedelta(seconds=90),
    "Instant": lambda: Instant(1, 500_000_000),
    "Instant(ns)": lambda: Instant(1, 123_456_789),
    "Instant(-1)": lambda: Instant(-1, 500_000_000),
    "uuid": lambda: uuid.UUID(int=5),
    "Path": lambda: pathlib.PurePosixPath("/a/b"),
    "class": lambda: Own,
    "object": lambda: Own(x=1),
    "np.int64": lambda: np.int64(5),
    "np.int8": lambda: np.int8(5),
    "np.float64": lambda: np.float64(0.5),
    "np.float32": lambda: np.float32(0.5),
    "np.bool_": lambda: np.bool_(True),
    "np.str_": lambda: np.str_("a"),
    "np.datetime64": lambda: np.datetime64("2020-02-03T04:05:06"),
}
"""Values that are not collections."""

COLLECTIONS: dict[str, Callable[[], Any]] = {
    "[]": list,
    "[1, 2]": lambda: [1, 2],
    "['a', 'b']": lambda: ["a", "b"],
    "[None]": lambda: [None],
    "[1, 'a']": lambda: [1, "a"],
    "[0.5]": lambda: [0.5],
    "[True]": lambda: [True],
    "[(1, 'a')]": lambda: [(1, "a")],
    "[[1, 'a']]": lambda: [[1, "a"]],
    "[Row]": lambda: [Row(1, "a")],
    "[enum]": lambda: [Color.RED],
    "list subclass": lambda: Lists([1, 2]),
    "()": tuple,
    "(1,)": lambda: (1,),
    "(1, 2)": lambda: (1, 2),
    "('a', 'b')": lambda: ("a", "b"),
    "(1, 'a')": lambda: (1, "a"),
    "(1, None)": lambda: (1, None),
    "(None, 'a')": lambda: (None, "a"),
    "(1, 5)": lambda: (1, 5),
    "(1, 'a', 2)": lambda: (1, "a", 2),
    "(2**40, 'a')": lambda: (2**40, "a"),
    "(1, enum)": lambda: (1, Color.RED),
    "(IntEnum, 'a')": lambda: (Level.LOW, "a"),
    "(1, object)": lambda: (1, Own(x=1)),
    "tuple subclass": lambda: Tuples((1, "a")),
    "namedtuple": lambda: Pair(1, "a"),
    "dataclass": lambda: Data(1, "a"),
    "slots": lambda: Slots(1, "a"),
    "SimpleNamespace": lambda: types.SimpleNamespace(a=1, b="a"),
    "own(a, b)": lambda: Own(a=1, b="a"),
    "own(k='v')": lambda: Own(k="v"),
    "own()": Own,
    "{}": dict,
    "{'a': 1}": lambda: {"a": 1},
    "{'a': 'b'}": lambda: {"a": "b"},
    "{'a': 1, 'b': 'a'}": lambda: {"a": 1, "b": "a"},
    "{'b': 'a', 'a': 1}": lambda: {"b": "a", "a": 1},
    "{1: 'a'}": lambda: {1: "a"},
    "{'a': None}": lambda: {"a": None},
    "{None: 'a'}": lambda: {None: "a"},
    "{'a': object}": lambda: {"a": Own(x=1)},
    "{'a': {'b': 1}}": lambda: {"a": {"b": 1}},
    "{'a': [1]}": lambda: {"a": [1]},
    "{'a': 0.5}": lambda: {"a": 0.5},
    "{'a': True}": lambda: {"a": True},
    "{enum: enum}": lambda: {Color.RED: Color.RED},
    "{'x': 1}": lambda: {"x": 1},
    "OrderedDict": lambda: collections.OrderedDict(a=1),
    "defaultdict": lambda: collections.defaultdict(int, a=1),
    "Counter": lambda: collections.Counter("a"),
    "mappingproxy": lambda: types.MappingProxyType({"a": 1}),
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({1, 2}),
    "range": lambda: range(1, 3),
    "generator": lambda: (i for i in (1, 2)),
    "deque": lambda: collections.deque([1, 2]),
    "array": lambda: array.array("i", [1, 2]),
    "dict.values": {"a": 1, "b": 2}.values,
    "Row()": Row,
    "Row(1)": lambda: Row(1),
    "Row(1, 'a')": lambda: Row(1, "a"),
    "Row(1, None)": lambda: Row(1, None),
    "Row(1, 5)": lambda: Row(1, 5),
    "Row(1, 'a', 2)": lambda: Row(1, "a", 2),
    "Row(a, b)": lambda: Row(a=1, b="a"),
    "Row(b, a)": lambda: Row(b="a", a=1),
    "Row(x, y)": lambda: Row(x=1, y="a"),
    "Row(a, b, c)": lambda: Row(a=1, b="a", c=2),
    "Row(a)": lambda: Row(a=1),
    "Row(f0, f1)": lambda: Row(f0=1, f1="a"),
    "Row(DELETE)": lambda: Row.of_kind(RowKind.DELETE, 1, "a"),
    "Row(enum)": lambda: Row(1, Color.RED),
    "np.array(int)": lambda: np.array([1, 2]),
    "np.array(float)": lambda: np.array([0.5]),
    "np.array(str)": lambda: np.array(["a", "b"]),
}

VALUES = ATOMS | COLLECTIONS

# -- types


def _local(kind: str) -> Callable[[], Any]:
    return lambda: LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType[kind])


ATOMIC_TYPES: dict[str, Callable[[], Any]] = {
    name: getattr(Types, name)
    for name in (
        *("STRING", "BYTE", "BOOLEAN", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "CHAR", "BIG_INT", "BIG_DEC"),
        *("INSTANT", "SQL_DATE", "SQL_TIME", "SQL_TIMESTAMP", "PICKLED_BYTE_ARRAY"),
    )
}

COMPOSITE_TYPES: dict[str, Callable[[], Any]] = {
    "LOCAL_DATE": _local("LOCAL_DATE"),
    "LOCAL_TIME": _local("LOCAL_TIME"),
    "LOCAL_DATE_TIME": _local("LOCAL_DATE_TIME"),
    "PRIMITIVE_ARRAY(BYTE)": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "PRIMITIVE_ARRAY(INT)": lambda: Types.PRIMITIVE_ARRAY(Types.INT()),
    "PRIMITIVE_ARRAY(DOUBLE)": lambda: Types.PRIMITIVE_ARRAY(Types.DOUBLE()),
    "PRIMITIVE_ARRAY(BOOLEAN)": lambda: Types.PRIMITIVE_ARRAY(Types.BOOLEAN()),
    "BASIC_ARRAY(STRING)": lambda: Types.BASIC_ARRAY(Types.STRING()),
    "BASIC_ARRAY(INT)": lambda: Types.BASIC_ARRAY(Types.INT()),
    "OBJECT_ARRAY(STRING)": lambda: Types.OBJECT_ARRAY(Types.STRING()),
    "OBJECT_ARRAY(TUPLE)": lambda: Types.OBJECT_ARRAY(Types.TUPLE([Types.INT(), Types.STRING()])),
    "LIST(INT)": lambda: Types.LIST(Types.INT()),
    "LIST(STRING)": lambda: Types.LIST(Types.STRING()),
    "LIST(ROW)": lambda: Types.LIST(Types.ROW([Types.INT(), Types.STRING()])),
    "MAP(STRING, STRING)": lambda: Types.MAP(Types.STRING(), Types.STRING()),
    "MAP(STRING, INT)": lambda: Types.MAP(Types.STRING(), Types.INT()),
    "MAP(INT, STRING)": lambda: Types.MAP(Types.INT(), Types.STRING()),
    "TUPLE": lambda: Types.TUPLE([Types.INT(), Types.STRING()]),
    "ROW": lambda: Types.ROW([Types.INT(), Types.STRING()]),
    "ROW_NAMED": lambda: Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]),
    "TUPLE(TUPLE)": lambda: Types.TUPLE([Types.TUPLE([Types.INT(), Types.STRING()])]),
    "ROW(TUPLE)": lambda: Types.ROW([Types.TUPLE([Types.INT(), Types.STRING()])]),
    "ROW(ROW)": lambda: Types.ROW([Types.ROW([Types.INT(), Types.STRING()])]),
    "ROW(LIST)": lambda: Types.ROW([Types.LIST(Types.INT())]),
    "ROW(MAP)": lambda: Types.ROW([Types.MAP(Types.STRING(), Types.STRING())]),
}

# The types above that contain another one; the value is wrapped as well.
WRAPPED: dict[str, Callable[[Any], Any]] = {
    "TUPLE(TUPLE)": lambda value: (value,),
    "ROW(TUPLE)": Row,
    "ROW(ROW)": Row,
    "ROW(LIST)": Row,
    "ROW(MAP)": Row,
}

TYPES = ATOMIC_TYPES | COMPOSITE_TYPES


class Place(NamedTuple):
    """A position at which a type is declared."""

    types: Mapping[str, Callable[[], Any]]
    values: Mapping[str, Callable[[], Any]]
    type_of: Callable[[Any], Any] = lambda type_info: type_info
    wrap: Callable[[Any], Any] = lambda value: value
    unwrap: Callable[[Any], Any] = lambda value: value


def _first(value: Any) -> Any:
    return value[0]


PLACES = {
    "from_collection": Place(TYPES, VALUES),
    "output": Place(TYPES, VALUES),
    # PyFlink sends keys as fields of rows.
    "key": Place(TYPES, VALUES, lambda t: Types.ROW([t]), Row, _first),
    "field of a tuple": Place(ATOMIC_TYPES, ATOMS, lambda t: Types.TUPLE([t]), lambda v: (v,), _first),
    "field of a row": Place(ATOMIC_TYPES, ATOMS, lambda t: Types.ROW([t]), Row, _first),
    "field of a named row": Place(
        ATOMIC_TYPES, ATOMS, lambda t: Types.ROW_NAMED(["x"], [t]), lambda v: Row(x=v), lambda row: row.x
    ),
    "element of a list": Place(ATOMIC_TYPES, ATOMS, Types.LIST, lambda v: [v], _first),
    "element of an object array": Place(ATOMIC_TYPES, ATOMS, Types.OBJECT_ARRAY, lambda v: [v], _first),
    "value of a map": Place(
        ATOMIC_TYPES, ATOMS, lambda t: Types.MAP(Types.STRING(), t), lambda v: {"k": v}, lambda m: m["k"]
    ),
    "key of a map": Place(ATOMIC_TYPES, ATOMS, lambda t: Types.MAP(t, Types.INT()), lambda v: {v: 1}, next),
    "value state": Place(TYPES, VALUES),
    "list state": Place(ATOMIC_TYPES, ATOMS),
    "value of a map state": Place(ATOMIC_TYPES, ATOMS),
    "key of a map state": Place(ATOMIC_TYPES, ATOMS),
}
PLACES["key of a map"] = PLACES["key of a map"]._replace(unwrap=lambda m: next(iter(m)))


def make(place: str, type_name: str, value_name: str) -> Any:
    """Return a new value in the form that the position accepts."""
    value = VALUES[value_name]()
    wrapped = WRAPPED[type_name](value) if type_name in WRAPPED else value
    return PLACES[place].wrap(wrapped)


def unmake(place: str, type_name: str, value: Any) -> Any:
    """Return the value without its wrapping."""
    inner = PLACES[place].unwrap(value)
    return inner[0] if type_name in WRAPPED else inner


def declared(place: str, type_name: str) -> Any:
    """Return a new object of the type that is declared at a position."""
    return PLACES[place].type_of(TYPES[type_name]())
