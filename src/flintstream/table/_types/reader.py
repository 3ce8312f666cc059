"""Types as SQL writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from flintstream.common._types import data_types as t
from flintstream.common._types.intervals import interval_of
from flintstream.table._errors import SqlError, nearest, place_at
from flintstream.table._types.objects import BitmapType, StructuredType, VariantType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place

_SIMPLE: dict[str, Callable[[], DataType]] = {
    "BOOLEAN": t.BooleanType,
    "TINYINT": t.TinyIntType,
    "SMALLINT": t.SmallIntType,
    "INT": t.IntType,
    "INTEGER": t.IntType,
    "BIGINT": t.BigIntType,
    "FLOAT": t.FloatType,
    "DOUBLE": t.DoubleType,
    "DATE": t.DateType,
    "STRING": lambda: t.VarCharType(t.MAX_LENGTH),
    "BYTES": lambda: t.VarBinaryType(t.MAX_LENGTH),
    "NULL": t.NullType,
    "VARIANT": VariantType,
    "BITMAP": BitmapType,
}
_SIZED: dict[str, Callable[..., DataType]] = {
    "CHAR": t.CharType,
    "VARCHAR": t.VarCharType,
    "BINARY": t.BinaryType,
    "VARBINARY": t.VarBinaryType,
    "DECIMAL": t.DecimalType,
    "DEC": t.DecimalType,
    "NUMERIC": t.DecimalType,
    "TIME": t.TimeType,
    "TIMESTAMP": t.TimestampType,
    "TIMESTAMP_LTZ": t.LocalZonedTimestampType,
}
_NAMES = (*_SIMPLE, *_SIZED, "ARRAY", "MAP", "MULTISET", "ROW", "STRUCTURED", "INTERVAL")


class Token(Protocol):
    """A word of a statement, as sqlglot cuts it."""

    @property
    def text(self) -> str:
        """The word, without quotes."""

    @property
    def start(self) -> int:
        """Its offset."""

    @property
    def token_type(self) -> object:
        """Its kind; that of a text ends with STRING."""


AToken = TypeVar("AToken", bound=Token)


class _Word(NamedTuple):
    text: str
    start: int
    token_type: str


_WORD = re.compile(r"`(?P<quoted>[^`]*)`|'(?P<text>(?:[^']|'')*)'|\w+|>>|\S")


def column_type(kind: DataType) -> DataType:
    """Return the type of a column; DataFrames have types of their own, which wrap it.

    >>> column_type(t.DataTypes.INT())
    IntType(true)
    """
    unwrap = getattr(kind, "_to_table_data_type", None)
    return kind if unwrap is None else unwrap()


def data_type_of(given: DataType | str) -> DataType:
    """Return a type given by its name in SQL, or as it is.

    >>> data_type_of("ARRAY<INT>")
    ArrayType(IntType(true), true)

    Raises:
        SqlError: There is no such type.
    """
    if not isinstance(given, str):
        return given
    words = [
        _Word(next(filter(None, match.groups()), match[0]), match.start(), "STRING" if match["text"] else "WORD")
        for match in _WORD.finditer(given)
    ]
    if not words:
        raise SqlError("the name of a type is empty")
    data_type, end = read_type(words, 0, lambda word: place_at(given, word.start))
    if end < len(words):
        raise SqlError(f"'{given}' is not a type: remove '{words[end].text}'")
    return data_type


def read_type(tokens: Sequence[AToken], start: int, place: Callable[[AToken], Place]) -> tuple[DataType, int]:
    """Return the type that begins at a token, and the position after it.

    Raises:
        SqlError: There is no such type.
    """
    reader = _Reader(tokens, start, place)
    return reader.type(), reader.position


class _Reader(Generic[AToken]):
    def __init__(self, tokens: Sequence[AToken], start: int, place: Callable[[AToken], Place]) -> None:
        self.tokens = tokens
        self.position = start
        self.place = place
        self.half = False
        """Whether one '>' of a token '>>' has been read."""

    def word(self, ahead: int = 0) -> str:
        position = self.position + ahead
        return str(self.tokens[position].text).upper() if position < len(self.tokens) else ""

    def take(self, *words: str) -> bool:
        if all(self.word(i) == word for i, word in enumerate(words)):
            self.position += len(words)
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.error(f"expected '{word}' but found '{self.word()}'")

    def error(self, message: str) -> SqlError:
        token = self.tokens[min(self.position, len(self.tokens) - 1)]
        return SqlError(f"{message} at {self.place(token)}")

    def type(self) -> DataType:
        """Read a type with its nullability."""
        found = self.bare()
        while (word := self.word()) in {"ARRAY", "MULTISET"}:  # INT ARRAY
            self.position += 1
            found = t.ArrayType(found) if word == "ARRAY" else t.MultisetType(found)
        if self.take("NOT", "NULL"):
            return found.not_null()
        if [str(token.text).upper() for token in self.tokens[self.position : self.position + 2]] != ["NULL", "ON"]:
            self.take("NULL")  # and not NULL ON EMPTY, a clause of JSON_VALUE
        return found

    def bare(self) -> DataType:
        name = self.word()
        if name not in _NAMES:
            raise self.error(f"unknown type '{name}'{nearest(name, _NAMES)}")
        self.position += 1
        if name in _SIMPLE:
            if name == "DOUBLE":
                self.take("PRECISION")
            return _SIMPLE[name]()
        if name in _SIZED:
            return self.with_size(name)
        if name == "ROW":
            return self.row()
        if name == "INTERVAL":
            return self.interval()
        if name == "STRUCTURED":
            return self.object()
        self.expect("<")
        first = self.type()
        if name == "MAP":
            self.expect(",")
            found: DataType = t.MapType(first, self.type())
        else:
            found = t.ArrayType(first) if name == "ARRAY" else t.MultisetType(first)
        self.close()
        return found

    def with_size(self, name: str) -> DataType:
        numbers: list[int] = []
        if self.take("("):
            while not self.take(")"):
                if not self.word().isdigit():
                    raise self.error(f"expected a number but found '{self.word()}'")
                numbers.append(int(self.word()))
                self.position += 1
                self.take(",")
        if name in {"TIMESTAMP", "TIME"}:
            if self.take("WITH", "LOCAL", "TIME", "ZONE"):
                name = "TIMESTAMP_LTZ"
            else:
                self.take("WITHOUT", "TIME", "ZONE")
        if not numbers and name in {"VARCHAR", "VARBINARY"}:
            numbers = [t.MAX_LENGTH]
        try:
            return _SIZED[name](*numbers)
        except (ValueError, TypeError) as error:
            raise self.error(str(error)) from error

    def interval(self) -> DataType:
        """Read the units of an interval, each with its numbers of digits."""
        first = self.unit()
        try:
            return interval_of(first, self.unit() if self.take("TO") else None)
        except ValueError as error:
            raise self.error(str(error)) from error

    def unit(self) -> t.Resolution:
        """Read a unit of an interval, such as ``SECOND(2, 3)``."""
        name = self.word()
        if name not in t.Resolution.IntervalUnit.__members__:
            units = ", ".join(t.Resolution.IntervalUnit.__members__)
            raise self.error(f"INTERVAL needs one of the units {units}, but got '{name}'")
        self.position += 1
        digits = [-1]
        if self.take("("):
            while not self.take(")"):
                if not self.word().isdigit():
                    raise self.error(f"expected a number but found '{self.word()}'")
                digits.append(int(self.word()))
                self.position += 1
                self.take(",")
        return t.Resolution(t.Resolution.IntervalUnit[name], digits[-1])

    def object(self) -> DataType:
        """Read the class and the attributes of an object."""
        self.expect("<")
        name = str(self.tokens[min(self.position, len(self.tokens) - 1)].text)
        self.position += 1
        self.take(",")
        return StructuredType(name, self.fields(">"))

    def row(self) -> DataType:
        if self.take("<>"):
            return t.RowType([])
        ending = ">" if self.take("<") else ")"
        if ending == ")":
            self.expect("(")
        return t.RowType(self.fields(ending))

    def fields(self, ending: str) -> list[t.RowField]:
        """Read fields up to the bracket that ends them."""
        fields: list[t.RowField] = []
        while not self.at_end(ending):
            name = str(self.tokens[self.position].text)
            if any(field.name == name for field in fields):
                raise self.error(f"field names must be unique, but found '{name}' twice")
            self.position += 1
            fields.append(t.RowField(name, self.type()))
            self.comment()
            self.take(",")
        return fields

    def comment(self) -> None:
        """Go past the comment of a field: a text, with or without the word COMMENT."""
        self.take("COMMENT")
        if self.position < len(self.tokens) and str(self.tokens[self.position].token_type).endswith("STRING"):
            self.position += 1

    def at_end(self, ending: str) -> bool:
        if ending == ")":
            return self.take(")")
        if self.word() in {">", ">>"}:
            self.close()
            return True
        return False

    def close(self) -> None:
        """Go past a '>', which may be half of a '>>'."""
        if self.word() == ">>" and not self.half:
            self.half = True
            return
        if not (self.word() == ">>" and self.half):
            self.expect(">")
            return
        self.half = False
        self.position += 1
