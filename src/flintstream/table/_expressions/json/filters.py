"""Conditions of paths of JSON: ``?(@.price < 10 && @.tags contains 'x')``."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from flintstream.table._expressions.patterns.helpers import regex as compiled_regex
from flintstream.table._expressions.patterns.linear import Linear

Test = Callable[[object, object], bool]
Operand = Callable[[object, object], object]
Inner = Callable[[str], Operand]

_MISSING = object()
"""What a path within a filter gives that finds nothing; it equals nothing but itself."""
_LITERAL = re.compile(
    r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)"""
)
_REGEX = re.compile(r"/((?:[^/\\]|\\.)*)/([a-zA-Z]*)")
_OPERATOR = re.compile(
    r"(===|!==|==|=~|!=|<=|>=|<|>|(?:in|nin|contains|size|empty|all|anyof|noneof|subsetof)\b)", re.IGNORECASE
)
_WORDS = {"true": True, "false": False, "null": None}


def _always(constant: object) -> Operand:
    return lambda value, root: constant  # noqa: ARG005 - one signature


class FilterReader:
    """Reads a condition, and makes the function ``(value, root) -> bool`` of it."""

    def __init__(self, text: str, at: int, inner: Inner) -> None:
        """Begin at a position of a text; ``inner`` compiles the paths within the condition."""
        self.text, self.at, self.inner = text, at, inner

    def read(self) -> Test:
        """Return the function, and go past the closing bracket.

        Raises:
            ValueError: It is not a condition.
        """
        self.expect("(")
        test = self.any_of()
        self.expect(")")
        self.expect("]")
        return test

    def error(self, what: str) -> ValueError:
        return ValueError(f"the filter of '{self.text}' {what} at position {self.at + 1}")

    def blank(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def take(self, sign: str) -> bool:
        self.blank()
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise self.error(f"has no '{sign}'")

    def any_of(self) -> Test:
        tests = [self.all_of()]
        while self.take("||"):
            tests.append(self.all_of())
        return tests[0] if len(tests) == 1 else lambda value, root: any(test(value, root) for test in tests)

    def all_of(self) -> Test:
        tests = [self.single()]
        while self.take("&&"):
            tests.append(self.single())
        return tests[0] if len(tests) == 1 else lambda value, root: all(test(value, root) for test in tests)

    def single(self) -> Test:
        if self.take("!"):
            negated = self.single()
            return lambda value, root: not negated(value, root)
        if self.take("("):
            test = self.any_of()
            self.expect(")")
            return test
        left = self.operand()
        self.blank()
        operator = _OPERATOR.match(self.text, self.at)
        if operator is None:
            return lambda value, root: left(value, root) is not _MISSING
        self.at = operator.end()
        name = operator[0].lower()
        right = self.operand()
        compare = _OPERATORS[name]
        return lambda value, root: compare(left(value, root), right(value, root))

    def operand(self) -> Operand:
        self.blank()
        sign = self.text[self.at : self.at + 1]
        if sign in {"@", "$"}:
            return self.path()
        if sign == "[":
            values = self.list()
            return _always(values)
        regex = _REGEX.match(self.text, self.at)
        if regex is not None:
            self.at = regex.end()
            pattern = compiled_regex(f"(?i){regex[1]}" if "i" in regex[2] else regex[1])
            if pattern is None:
                raise self.error("has an invalid regular expression")
            return _always(pattern)
        return _always(self.literal())

    def literal(self) -> object:
        self.blank()
        found = _LITERAL.match(self.text, self.at)
        if found is None:
            raise self.error("has no value")
        self.at = found.end()
        if found[3] is not None:
            return Decimal(found[3])
        if found[4] is not None:
            return _WORDS[found[4]]
        return re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2])

    def list(self) -> list[Any]:
        self.expect("[")
        values: list[Any] = []
        while not self.take("]"):
            values.append(self.literal())
            if not self.take(","):
                self.expect("]")
                break
        return values

    def path(self) -> Operand:
        start, depth = self.at, 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            if depth == 0 and self.at > start and (sign.isspace() or sign in ")=!<>&|,"):
                break
            depth += (sign in "[(") - (sign in "])")
            self.at += 1
        find = self.inner(self.text[start : self.at])

        def operand(value: object, root: Any) -> Any:
            try:
                return find(value, root)
            except LookupError:
                return _MISSING

        return operand


def _number(value: object) -> Any:
    return value if type(value) in {int, Decimal, float} else None


def _equal(a: object, b: object) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if _number(a) is not None and type(b) is str:
        try:
            return bool(a == Decimal(b))
        except ArithmeticError:
            return False
    if type(a) is str and _number(b) is not None:
        return a == str(b)
    return bool(a == b)


def _order(test: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def compare(a: object, b: object) -> bool:
        if type(a) is str and type(b) is str:
            return test(a, b)
        return _number(a) is not None and _number(b) is not None and test(a, b)

    return compare


_PATTERNS = (re.Pattern, Linear)


def _matches(a: object, b: object) -> bool:
    if isinstance(a, _PATTERNS):
        a, b = b, a
    return isinstance(b, _PATTERNS) and isinstance(a, (str, int, Decimal)) and b.fullmatch(str(a)) is not None


def _among(a: object, values: object) -> bool:
    return type(values) is list and any(_equal(a, value) for value in values)


def _contains(a: object, b: object) -> bool:
    return type(b) is str and b in a if type(a) is str else _among(b, a)


def _size(a: Any, b: object) -> bool:
    return type(a) in {list, dict, str} and _equal(len(a), b)


_OPERATORS: dict[str, Callable[[object, object], bool]] = {
    "==": _equal,
    "!=": lambda a, b: not _equal(a, b),
    "===": lambda a, b: type(a) is type(b) and _equal(a, b),
    "!==": lambda a, b: type(a) is not type(b) or not _equal(a, b),
    "<": _order(lambda a, b: bool(a < b)),
    "<=": _order(lambda a, b: bool(a <= b)),
    ">": _order(lambda a, b: bool(a > b)),
    ">=": _order(lambda a, b: bool(a >= b)),
    "=~": _matches,
    "in": _among,
    "nin": lambda a, b: not _among(a, b),
    "contains": _contains,
    "size": _size,
    "empty": lambda a, b: type(a) in {list, dict, str} and (not a) is b,
    "all": lambda a, b: type(a) is list and type(b) is list and all(_among(item, a) for item in b),
    "subsetof": lambda a, b: type(a) is list and type(b) is list and all(_among(item, b) for item in a),
    "anyof": lambda a, b: type(a) is list and type(b) is list and any(_among(item, b) for item in a),
    "noneof": lambda a, b: type(a) is list and type(b) is list and not any(_among(item, b) for item in a),
}
