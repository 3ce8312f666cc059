"""Deliberate differences of our schemas from PyFlink's: operation, type, input, and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.formats.cases import Case


class Deviation(NamedTuple):
    """A deliberate difference."""

    schema: str
    does: str
    type: str
    """A part of the text of the type, of a setting or of the Avro schema."""
    given: tuple[str, ...]
    why: str

    def covers(self, case: Case) -> bool:
        """Return whether the case is one of these."""
        text = f"{case.type}{case.settings}{case.written_as}"
        return case[:2] == self[:2] and self.type in text and case.given in self.given


_EMPTY = "something of another kind is an error, not an empty value or a zero"
_LISTS = "elements of a LIST are of its type"
_PICKLED = "what was pickled is unpickled, as PyFlink's Python worker does behind the schema"
_BEFORE_1970 = "fractions of a second before 1970, and days before 1582, are what they were"
_BEANS = "tuples, and rows in maps, are objects of their fields alone"
_BY_NAME = "a row whose fields have the names of the schema's, in another order, is written by name"
_TUPLES = "a tuple is taken for a row, and a whole number fits wherever a number is asked for"

DEVIATIONS = [
    Deviation(
        "json", "read", "INSTANT()]", ('{"a":-1.5}',), "half a second before the epoch is that, not half a second less"
    ),
    Deviation(
        "json",
        "read",
        "[Types.PICKLED_BYTE_ARRAY()]",
        ('{"a":"YWJj/w=="}', '{"a":[1,2]}', '{"a":"gASVBwAAAAAAAABDA2FiY5Qu"}', '{"a":""}', '{"a":"YWJj\\n"}'),
        _PICKLED,
    ),
    Deviation("json", "read", "[Types.MAP(Types.INT(), Types.STRING())]", ('{"a":{"x":"y"}}',), _EMPTY),
    Deviation(
        "json",
        "read",
        "[Types.LIST(Types.INT())]",
        ('{"a":["1",2.7]}',),
        _LISTS,
    ),
    Deviation(
        "json",
        "read",
        "[Types.LIST(Types.ROW_NAMED",
        ('{"a":[{"a":"zz"}]}',),
        _LISTS,
    ),
    Deviation("json", "read", "[Types.TUPLE(", ('{"a":{"f0":1,"f1":"x","arity":2}}',), _BEANS),
    Deviation("json", "write", "[Types.TUPLE(", ("Row((1, 'x'))",), _BEANS),
    Deviation("json", "write", "[Types.MAP(Types.STRING(), Types.ROW_NAMED", ("Row({'k': Row(1, 'x')})",), _BEANS),
    Deviation("json", "write", "[Types.SQL_DATE()]", ("Row(date(1, 1, 1))",), _BEFORE_1970),
    Deviation("json", "write", "[Types.SQL_TIMESTAMP()]", ("Row(datetime(1960, 1, 2, 3, 4, 5, 6000))",), _BEFORE_1970),
    Deviation("csv", "write", "[Types.SQL_TIMESTAMP()]", ("Row(datetime(1960, 1, 2, 3, 4, 5, 120000))",), _BEFORE_1970),
    Deviation("csv", "write", "[Types.LIST(", ("Row([1, 2])",), "columns may be LISTs"),
    Deviation("avro", "read", '"boolean"', ("\x02",), "bad data"),
    Deviation("avro", "read", '["null", "int", "string"]', ("\x04\x02x",), "there are no objects of Java"),
    Deviation("avro", "read", '"time-millis"', ("\x80\x01",), "times are to the millisecond"),
    Deviation("avro", "read", '"decimal"', ("\x00",), "no bytes at all are zero"),
    Deviation("avro", "write", '"fixed", "name": "f"', ("Row(b'abc')",), "nothing is cut"),
    Deviation("avro", "write", '"decimal"', ("Row(Decimal('-1.5'))",), "has the scale of the schema"),
    Deviation("avro", "write", '"name": "d"', ("Row(Decimal('1.50'))", "Row(Decimal('-1.50'))"), "fits a fixed size"),
    Deviation("json", "write", "['c', 'b', 'a']", ("Row('x', 7, 'z')",), _BY_NAME),
    Deviation("csv", "write", "['c', 'b', 'a']", ("Row('x', 7, 'z')",), _BY_NAME),
    Deviation("avro", "write", "['c', 'b', 'a']", ("Row('x', 7, 'z')",), _BY_NAME),
    Deviation("json", "write", "Types.TUPLE([Types.STRING(), Types.INT()])", ("('x', 7)",), _TUPLES),
    Deviation("csv", "write", "Types.TUPLE([Types.STRING(), Types.INT()])", ("('x', 7)",), _TUPLES),
    Deviation("json", "write", "['a', 'b'], [Types.STRING(), Types.LONG()]", ("Row('x', 7, 'z')",), _TUPLES),
    Deviation("json", "write", "['a', 'b'], [Types.STRING(), Types.DOUBLE()]", ("Row('x', 7, 'z')",), _TUPLES),
]
