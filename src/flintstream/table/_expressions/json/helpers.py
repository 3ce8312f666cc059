"""JSON that generated code reads and writes, as Flink's functions do.

Numbers with a point or an exponent are decimals: they keep their digits.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeVar

from flintstream.common._text.leaving import whole_text
from flintstream.table._expressions.helpers import double_to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table._expressions.json.paths import JsonPath


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number of JSON")


def _decimal(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"the exponent of {text:.40} is too large") from None
    return value or value.copy_abs()  # a decimal of Java has no negative zero


_DEEPEST = 1000
"""The levels of arrays and objects that a document may have, as in the library that Flink reads JSON with."""
_FRAMES = 6
"""The calls that one level may take at most in any of the functions that descend into a document."""
_NESTING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|([\]}])', re.DOTALL)

T = TypeVar("T")


def deeply(function: Callable[..., T], *arguments: object) -> T:
    """Call a function that calls itself for each level of a document; if need be, with more levels than Python allows.

    A document is at most 1,000 levels deep. Those few do not endanger the stack.
    """
    try:
        return function(*arguments)
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + _DEEPEST * _FRAMES)
    try:
        return function(*arguments)
    finally:
        sys.setrecursionlimit(limit)


def _is_too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = 0
    for found in _NESTING.finditer(text):
        if found[0][0] != '"':
            depth += -1 if found[1] else 1
            if depth > _DEEPEST:
                return True
    return False


_scan = json.JSONDecoder(parse_float=_decimal, parse_constant=_no_constant).raw_decode
_NUMBERS = (int, Decimal)
_last: tuple[str | None, Any] = (None, None)


def document(text: str) -> Any:
    """Return what a text holds; what comes after the first value does not count.

    The last document is kept: several functions of a row often read the same one.

    Raises:
        ValueError: It is not JSON.
    """
    global _last  # noqa: PLW0603 - one entry, replaced as a whole
    kept, value = _last
    if kept is not text:
        if len(text) > _DEEPEST and _is_too_deep(text):
            raise ValueError(f"the document is nested more than {_DEEPEST} levels deep")
        given = text.lstrip(" \t\r\n")
        value, end = deeply(_scan, given)
        if end < len(given) and type(value) in _NUMBERS and given[end] not in " \t\r\n":
            raise ValueError(f"the number {given[:end]:.40} is followed by {given[end]!r}")
        _last = (text, value)
    return value


# -- writing -----------------------------------------------------------------------------------------------------------

_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    return _SHORT.get(sign) or f"\\u{ord(sign):04X}"


def json_text(value: str) -> str:
    """Return a text in quotes, with escapes where JSON needs them."""
    return f'"{whole_text(_ESCAPED.sub(_escape, value))}"'


_QUOTED = re.compile(r'["\\/\x00-\x1f\x7f-\U0010ffff]')


def _quoted(found: re.Match[str]) -> str:
    sign = found[0]
    if sign == "/":
        return "\\/"
    short, code = _SHORT.get(sign), ord(sign)
    if short or code <= _LAST_OF_PLANE:
        return short or f"\\u{code:04x}"
    return f"\\u{code:04x}\\u{0xDC00 + (code & 0x3FF):04x}"  # as in Flink, which takes both halves of a pair in turn


_LAST_OF_PLANE = 0xFFFF


def json_quoted(value: str) -> str:
    """Return a text in quotes in ASCII, as JSON_QUOTE writes it."""
    return f'"{_QUOTED.sub(_quoted, value)}"'


def written(value: object) -> str:
    """Return a document as text, without blanks, and with the members of objects in the order of their names."""
    return deeply(_written, value)


def _written(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return json_text(value)
    if kind is dict:
        return "{" + ",".join([f"{json_text(key)}:{_written(item)}" for key, item in sorted(value.items())]) + "}"
    if kind is list:
        return "[" + ",".join(map(_written, value)) + "]"
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    return double_to_text(value) if kind is float else str(value)


def json_unquoted(text: str) -> str:
    """Return the content of a text in quotes; another text as it is."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        value, end = _scan(text)
    except ValueError:
        return text
    return whole_text(value) if end == len(text) else text


def json_joined(parts: list[str | None]) -> str:
    """Return members or elements with commas; None is left out."""
    return ",".join([part for part in parts if part is not None])


# -- reading -----------------------------------------------------------------------------------------------------------


def is_json(text: str | None, kind: str) -> bool:
    """Return whether a text is JSON: a VALUE, OBJECT, ARRAY or SCALAR."""
    if text is None:
        return False
    try:
        value = document(text)
    except ValueError:
        return False
    if kind == "VALUE":
        return True
    return kind == ("OBJECT" if type(value) is dict else "ARRAY" if type(value) is list else "SCALAR")


def _found(path: JsonPath, text: str) -> Any:
    try:
        given = document(text)
    except ValueError:
        if path.lax:
            return None
        raise
    return deeply(path.find, given)


class PathOfRow:
    """A function of JSON whose path is not a literal: it is read for each different path."""

    def __init__(self, make: Callable[[JsonPath], Any], path: type[JsonPath]) -> None:
        """Take what returns the function for a path, and what reads a path."""
        self.make, self.path = make, path
        self._made: dict[str, Any] = {}

    def __reduce__(self) -> Any:
        """Leave out what was read so far."""
        return PathOfRow, (self.make, self.path)

    def __call__(self, text: str, path: str | None, *others: object) -> object:
        """Return the result; None if the path is None."""
        if path is None:
            return None
        function = self._made.get(path)
        if function is None:
            if len(self._made) >= _PATHS:
                self._made.clear()
            function = self._made[path] = self.make(self.path(path))
        return function(text, *others)


_WRONG = (ValueError, LookupError, ArithmeticError, RecursionError)
"""What a document or a path that is wrong, or does not fit the other, leads to."""
_PATHS = 1000
"""The paths that a function keeps at most."""


@dataclass(frozen=True)
class JsonExists:
    """``JSON_EXISTS``: whether a path finds anything."""

    path: JsonPath
    error: str

    def __call__(self, text: str) -> bool | None:
        """Return whether it does in a document."""
        try:
            return _found(self.path, text) is not None
        except _WRONG:
            if self.error == "ERROR":
                raise
            return {"TRUE": True, "FALSE": False}.get(self.error)


@dataclass(frozen=True)
class JsonValue:
    """``JSON_VALUE``: the scalar at a path, of a type."""

    path: JsonPath
    convert: Callable[[Any], Any]
    empty: str
    error: str

    def __call__(self, text: str, when_empty: object, when_error: object) -> object:
        """Return the value, or one of the given ones if there is none."""
        try:
            value = self._scalar(text)
        except _WRONG:
            if self.error == "ERROR":
                raise
            return when_error
        if value is not None:
            return self.convert(value)
        if self.empty == "ERROR":
            raise LookupError(f"JSON_VALUE: no value at {self.path.text}")
        return when_empty

    def _scalar(self, text: str) -> object:
        value = _found(self.path, text)
        if type(value) is not dict and type(value) is not list:
            return value
        if self.path.lax:
            return None
        raise LookupError(f"JSON_VALUE: {self.path.text} is not a scalar")


@dataclass(frozen=True)
class JsonQuery:
    """``JSON_QUERY``: the object or array at a path."""

    path: JsonPath
    wrapper: str
    empty: str
    error: str
    listed: bool
    """Whether the result is an array of texts, not a text."""

    def __call__(self, text: str) -> Any:
        """Return what a document has."""
        try:
            value = self._structure(text)
        except _WRONG:
            if self.error == "ERROR":
                raise
            return self._instead(self.error)
        if value is None:
            return self._instead(self.empty)
        return [_element(item) for item in value] if self.listed else written(value)

    def _structure(self, text: str) -> Any:
        value = _found(self.path, text)
        if value is None:
            return None
        listed = type(value) is list
        if self.wrapper == "UNCONDITIONAL_ARRAY" or (self.wrapper == "CONDITIONAL_ARRAY" and not listed):
            return [value]
        if listed or (type(value) is dict and not self.listed):
            return value
        if self.path.lax and type(value) is not dict:
            return None
        raise LookupError(f"JSON_QUERY: {self.path.text} is neither an array nor an object")

    def _instead(self, what: str) -> Any:
        if what == "ERROR":
            raise LookupError(f"JSON_QUERY: no value at {self.path.text}")
        if what == "NULL":
            return None
        if self.listed:
            return []
        return "{}" if what == "EMPTY_OBJECT" else "[]"


def _element(value: object) -> Any:
    return value if value is None or type(value) is str else written(value)


def scalar_text(value: object) -> str:
    """Return a scalar as text."""
    return whole_text(value) if type(value) is str else written(value)


def scalar_boolean(value: object) -> bool:
    """Return a boolean.

    Raises:
        TypeError: It is none.
    """
    return bool(_of(value, bool, "BOOLEAN"))


def scalar_integer(value: Any) -> int:
    """Return a 32-bit integer.

    Raises:
        TypeError: It is none.
    """
    if not -(1 << 31) <= _of(value, int, "INT") < 1 << 31:
        raise TypeError(f"JSON_VALUE: {value} is not an INT")
    return int(value)


def scalar_double(value: object) -> float:
    """Return a number with a point or exponent.

    Raises:
        TypeError: It is none, also if it is an integer.
    """
    return float(_of(value, Decimal, "DOUBLE"))


def _of(value: object, kind: type, name: str) -> Any:
    if type(value) is not kind:
        raise TypeError(f"JSON_VALUE: {written(value)} is not {name}")
    return value
