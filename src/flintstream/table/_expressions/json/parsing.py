"""Messages of JSON parsed, with all digits of numbers if types need them."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flintstream.common._types.data_types import DataType

    Parse = Callable[[bytes], Any]


class ExactNumber(float):
    """A number of JSON that remembers all of its digits."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def exact(self) -> Decimal:
        """The number as a decimal."""
        return Decimal(self.text)


def parser(types: Iterable[DataType]) -> Parse:
    """Return the function that parses a message. Numbers keep all digits if any column, or part of one, is DECIMAL."""
    return parse_exactly if any(map(_has_decimal, types)) else _parse


_PLAIN = json.JSONDecoder()
_EXACT = json.JSONDecoder(parse_float=ExactNumber)  # json.loads would make one for each message
_BLANKS = re.compile(r"[ \t\n\r]*")


def _parse(message: bytes) -> object:
    try:
        return json.loads(message)
    except json.JSONDecodeError:
        return _parse_first(_PLAIN, message)


def parse_exactly(message: bytes) -> object:
    """Parse a message whose numbers are :class:`ExactNumber`."""
    return _parse_first(_EXACT, message)


def parse_elements(message: bytes, parse: Parse) -> list[object]:
    """Return the elements of a damaged array that come before the damage.

    >>> parse_elements(b'[{"a": 1}, {"a": 2', parse_exactly)
    [{'a': 1}]
    """
    decoder = _EXACT if parse is parse_exactly else _PLAIN
    text = _text_of(message)
    at, before = _begin(text, 0), "["
    found: list[object] = []
    while text[at : at + 1] == before:
        try:
            element, end = decoder.raw_decode(text, _begin(text, at + 1))
        except ValueError:
            break
        found.append(element)
        at, before = _begin(text, end), ","
    return found


def _parse_first(decoder: json.JSONDecoder, message: bytes) -> object:
    """Parse a value; as in Flink, what comes after it does not count."""
    text = _text_of(message)
    return decoder.raw_decode(text, _begin(text, 0))[0]


def _text_of(message: bytes) -> str:
    return message.decode(json.detect_encoding(message), "surrogatepass")


def _begin(text: str, start: int) -> int:
    """Return where the blanks from a position end."""
    blanks = _BLANKS.match(text, start)
    return blanks.end() if blanks else start


def _has_decimal(kind: DataType) -> bool:
    if isinstance(kind, t.ArrayType):
        return _has_decimal(kind.element_type)
    if isinstance(kind, t.MapType):
        return _has_decimal(kind.key_type) or _has_decimal(kind.value_type)
    if isinstance(kind, t.RowType):
        return any(map(_has_decimal, kind.field_types()))
    return isinstance(kind, t.DecimalType)
