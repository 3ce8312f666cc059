"""The pattern of MATCH_RECOGNIZE: from tokens to syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, place_at, unsupported
from flintstream.table._syntax.queries import PatternVariable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.tokenizer_core import Token

    from flintstream.table._errors import Place

_BOUNDS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1), "??": (0, 1)}
_CONDITIONS = "describe the alternatives in DEFINE, with OR"


def read_pattern(sql: str, tokens: Sequence[Token]) -> tuple[PatternVariable, ...]:
    """Return the variables of a pattern in order.

    Raises:
        SqlError: The tokens are not a pattern.
        UnsupportedClauseError: It has alternatives, a repeated group, PERMUTE or an exclusion.
    """
    reader = _Reader(sql, tokens)
    found = reader.sequence()
    if reader.position < len(tokens):
        raise reader.error("the pattern has an extra ')'")
    return tuple(found)


class _Reader:
    def __init__(self, sql: str, tokens: Sequence[Token]) -> None:
        self.sql, self.tokens, self.position = sql, tokens, 0

    def peek(self) -> str:
        """Return the next token; empty at the end."""
        return str(self.tokens[self.position].text) if self.position < len(self.tokens) else ""

    def place(self) -> Place:
        """Return where the next token is, or the last one."""
        return place_at(self.sql, self.tokens[min(self.position, len(self.tokens) - 1)].start)

    def error(self, what: str) -> SqlError:
        """Return an error at the next token."""
        if not self.tokens:
            return SqlError("PATTERN () has no variable: write PATTERN (A B)")
        return SqlError(f"{what} at {self.place()}: PATTERN takes variables with quantifiers, such as (A B+ C{{1,2}})")

    def take(self, sign: str) -> bool:
        """Go past a sign, and return whether it was there."""
        if self.peek() != sign:
            return False
        self.position += 1
        return True

    def sequence(self) -> list[PatternVariable]:
        """Return the variables up to the end or a closing parenthesis."""
        found: list[PatternVariable] = []
        while self.position < len(self.tokens) and self.peek() != ")":
            found += self.element()
        if not found:
            raise self.error("a variable is missing in the pattern")
        return found

    def element(self) -> list[PatternVariable]:
        """Return a variable with its quantifier, or those of a group."""
        sign, place = self.peek(), self.place()
        if sign == "|":
            raise unsupported("'|' in PATTERN", place, _CONDITIONS)
        if sign.upper() == "PERMUTE":
            raise unsupported("PERMUTE in PATTERN", place, _CONDITIONS)
        if sign == "{":
            raise unsupported("'{-' in PATTERN", place, "leave the variable out of MEASURES")
        if self.take("("):
            group = self.sequence()
            if not self.take(")"):
                raise self.error("a ')' is missing in the pattern")
        elif sign[:1].isalpha() or sign[:1] == "_":
            self.position += 1
            group = [PatternVariable(place, sign)]
        else:
            raise self.error(f"'{sign}' cannot be in the pattern")
        least, most, greedy = self.quantifier()
        if (least, most) == (1, 1):
            return group
        if len(group) > 1 or (group[0].least, group[0].most) != (1, 1):
            names = " ".join(item.name for item in group)
            raise unsupported(f"the repeated group ({names}) in PATTERN", place, "repeat single variables")
        return [PatternVariable(group[0].place, group[0].name, least, most, greedy)]

    def quantifier(self) -> tuple[int, int | None, bool]:
        """Return how many rows a variable takes, and whether it is greedy."""
        sign = self.peek()
        if sign in _BOUNDS:
            self.position += 1
            return (*_BOUNDS[sign], sign != "??" and not self.take("?"))
        following = str(self.tokens[self.position + 1].text) if self.position + 1 < len(self.tokens) else ""
        if sign != "{" or following == "-":
            return 1, 1, True
        self.position += 1
        if self.peek() == ",":
            raise self.error("a quantifier begins with the least number of rows, {0,2}, but found ','")
        least = self.number()
        most: int | None = least
        if self.take(","):
            most = None if self.peek() == "}" else self.number()
        if not self.take("}"):
            raise self.error("a '}' is missing in the pattern")
        return least, most, not self.take("?")

    def number(self) -> int:
        """Return a number of rows."""
        if not self.peek().isdigit():
            raise self.error(f"'{self.peek()}' is not a number of rows")
        self.position += 1
        return int(self.tokens[self.position - 1].text)
