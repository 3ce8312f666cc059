"""Expressions as texts, which methods of tables took before PyFlink 1.15: ``"name, price.avg as average"``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError
from flintstream.table.expression import Expression, syntax_of
from flintstream.table.expressions import call, col, lit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._syntax.scalar import Syntax

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|'(?P<single>(?:[^']|'')*)'|\"(?P<double>[^\"]*)\"|`(?P<quoted>[^`]+)`"
    r"|(?P<name>[A-Za-z_$][\w$]*)|(?P<sign>===?|!==?|<>|<=|>=|&&|\|\||[-+*/%<>=!(),.]))"
)
_CONSTANTS = {"true": True, "false": False, "null": None}
_BINARY: list[dict[str, Callable[[Expression, Expression], Expression]]] = [
    {"||": lambda a, b: a | b},
    {"&&": lambda a, b: a & b},
    {
        **dict.fromkeys(("=", "==", "==="), lambda a, b: a == b),
        **dict.fromkeys(("<>", "!=", "!=="), lambda a, b: a != b),
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    },
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": lambda a, b: a / b, "%": lambda a, b: a % b},
]
"""Operators, those that bind least first."""


def expressions_of(fields: Sequence[Expression | str]) -> list[Expression]:
    """Return expressions, with each text replaced by those that it lists.

    Raises:
        SqlError: A text is not a list of expressions.

    >>> expressions_of(["to_upper(name), price.avg as average", col("a")])
    [Expression(to_upper(name)), Expression(AVG(price) AS average), Expression(a)]
    """
    return [one for field in fields for one in (_Text(field).items() if isinstance(field, str) else [field])]


def syntaxes_of(fields: Sequence[Expression | str]) -> list[Syntax]:
    """Return the syntax of expressions, and of those that texts list.

    >>> [type(syntax).__name__ for syntax in syntaxes_of(["n, n + 1"])]
    ['Name', 'Apply']
    """
    return [syntax_of(one) for one in expressions_of(fields)]


def expression_of(field: Expression | str) -> Expression:
    """Return an expression, which may be given as a text.

    Raises:
        SqlError: The text is not one expression.

    >>> expression_of("price * 2 > 10")
    Expression(price * 2 > 10)
    """
    found = expressions_of([field])
    if len(found) != 1:
        raise SqlError(f"one expression is needed, but got '{field}'")
    return found[0]


class _Text:
    """Reads a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        """The kind and the text of each, the last one first."""
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if found is None:
                raise self._error(text[place:].strip())
            kind = found.lastgroup or ""
            self._tokens.append((kind, found[kind]))
            place = found.end()
        self._tokens.reverse()

    def _error(self, place: str) -> SqlError:
        return SqlError(f"'{self._text}' is not an expression at '{place}'; write it with col() and lit()")

    def _next(self) -> tuple[str, str]:
        return self._tokens.pop() if self._tokens else ("end", "the end")

    def _skips(self, *signs: str) -> str:
        """Return the next sign and skip it, if it is one of these."""
        kind, text = self._tokens[-1] if self._tokens else ("end", "")
        if kind in {"sign", "name"} and text in signs:
            self._tokens.pop()
            return text
        return ""

    def _needs(self, sign: str) -> None:
        if not self._skips(sign):
            raise self._error(self._next()[1])

    def items(self) -> list[Expression]:
        """Return the expressions of the list."""
        found = [self._item()]
        while self._skips(","):
            found.append(self._item())
        if self._tokens:
            raise self._error(self._next()[1])
        return found

    def _item(self) -> Expression:
        found = self._operation(0)
        if self._skips("as", "AS"):
            found = found.alias(self._name())
        return found

    def _name(self) -> str:
        kind, text = self._next()
        if kind not in {"name", "quoted"}:
            raise self._error(text)
        return text

    def _operation(self, level: int) -> Expression:
        if level == len(_BINARY):
            return self._operand()
        found = self._operation(level + 1)
        while sign := self._skips(*_BINARY[level]):
            found = _BINARY[level][sign](found, self._operation(level + 1))
        return found

    def _operand(self) -> Expression:
        sign = self._skips("-", "!")
        if not sign:
            return self._with_members()
        operand = self._operand()
        return -operand if sign == "-" else ~operand

    def _with_members(self) -> Expression:
        found = self._single()
        while self._skips("."):
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self._name()).lower()
            member = None if name.startswith("_") else getattr(found, name, None)  # only what users may call
            if member is None:
                raise self._error(name)
            if self._skips("("):
                arguments = self._arguments()
                found = member(*arguments) if callable(member) else member
            else:
                found = member
            if not isinstance(found, Expression):
                raise self._error(name)
        return found

    def _single(self) -> Expression:
        kind, text = self._next()
        if kind == "number":
            return lit(float(text) if "." in text else int(text))
        if kind in {"single", "double"}:
            return lit(text.replace("''", "'") if kind == "single" else text)
        if (kind, text) == ("sign", "("):
            found = self._operation(0)
            self._needs(")")
            return found
        if kind == "name" and text in _CONSTANTS:
            return lit(_CONSTANTS[text])
        if kind == "name" and self._skips("("):
            return call(text, *self._arguments())
        if kind in {"name", "quoted"} or text == "*":
            return col(text)
        raise self._error(text)

    def _arguments(self) -> list[Expression]:
        """Return the arguments of a call, of which the bracket has been read."""
        found: list[Expression] = []
        while not self._skips(")"):
            if found:
                self._needs(",")
            found.append(self._operation(0))
        return found
