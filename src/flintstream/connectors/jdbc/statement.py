"""Find the placeholders of a statement and replace them with those of a Python driver."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from flintstream.errors import PlanError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

_IDENTIFIER = r'"(?:[^"]|"")*"'
_TEXT = r"'(?:[^']|'')*'"
_ESCAPED_TEXT = r"'(?:[^'\\]|\\.|'')*'"
_BEFORE = r"(?<![\w$])"
_LINE = r"--[^\n]*"
_BLOCK = r"/\*.*?\*/"
_NESTED_BLOCK = r"(?P<block>/\*)"
"""The beginning of a comment that may contain others, so that no regular expression can find its end."""
_NOT_CLOSED = r"""['"]|/\*"""


class Grammar(Enum):
    """The parts of a statement in which a question mark is not a placeholder: strings, quoted names and comments."""

    STANDARD = (_TEXT, _IDENTIFIER, _LINE, _BLOCK)
    SQLITE = (_TEXT, _IDENTIFIER, r"`(?:[^`]|``)*`", r"\[[^\]]*\]", _LINE, _BLOCK)
    MYSQL = (
        _ESCAPED_TEXT,
        r'"(?:[^"\\]|\\.|"")*"',
        r"`(?:[^`]|``)*`",
        r"--(?=\s|$)[^\n]*",  # otherwise two minus signs
        r"\#[^\n]*",
        _BLOCK,
    )
    POSTGRESQL = (
        _BEFORE + "[eE]" + _ESCAPED_TEXT,
        _TEXT,
        _IDENTIFIER,
        _BEFORE + r"(?P<tag>\$(?:[^\W\d]\w*)?\$).*?(?P=tag)",
        _LINE,
        _NESTED_BLOCK,
    )
    SQLSERVER = (_TEXT, _IDENTIFIER, r"\[(?:[^\]]|\]\])*\]", _LINE, _NESTED_BLOCK)


_ALSO_NOT_CLOSED = {Grammar.SQLITE: r"|`|\[", Grammar.MYSQL: "|`", Grammar.SQLSERVER: r"|\["}


def _pattern(grammar: Grammar) -> re.Pattern[str]:
    not_closed = _NOT_CLOSED + _ALSO_NOT_CLOSED.get(grammar, "")
    return re.compile(f"(?P<skipped>{'|'.join(grammar.value)})|(?P<open>{not_closed})|(?P<mark>\\?+)", re.DOTALL)


_PATTERNS = {grammar: _pattern(grammar) for grammar in Grammar}

_MARKS: dict[str, Callable[[int], str]] = {
    "qmark": lambda _: "?",
    "format": lambda _: "%s",
    "pyformat": lambda _: "%s",
    "numeric": lambda number: f":{number}",
    "numeric_dollar": lambda number: f"${number}",
    "named": lambda number: f":p{number}",
}
"""The placeholder with a given number, by paramstyle of PEP 249 and SQLAlchemy."""


@dataclass(frozen=True)
class Statement:
    """A statement, split at its placeholders.

    >>> statement = Statement("INSERT INTO t VALUES (?, '100 % sure?', ?) -- really?")
    >>> statement.arity
    2
    >>> statement.render("format")
    "INSERT INTO t VALUES (%s, '100 %% sure?', %s) -- really?"

    Args:
        sql: the statement as for JDBC, with a ``?`` for each value. In PostgreSQL, ``??`` is the operator ``?``.
        grammar: the grammar of the database.

    Raises:
        PlanError: A text or a comment is not closed, or placeholders are numbered.
    """

    sql: str
    grammar: Grammar = Grammar.STANDARD
    pieces: tuple[str, ...] = field(init=False, repr=False)
    """The texts between the placeholders."""

    def __post_init__(self) -> None:
        if not isinstance(self.sql, str) or not self.sql.strip():
            raise PlanError(f"the statement must be a str with SQL, got {self.sql!r}")
        object.__setattr__(self, "pieces", tuple(_pieces(self.sql, self.grammar)))

    @property
    def arity(self) -> int:
        """Number of placeholders."""
        return len(self.pieces) - 1

    def render(self, paramstyle: str) -> str:
        """Return the statement with placeholders of this ``paramstyle``."""
        mark, pieces = _MARKS[paramstyle], self.pieces
        if paramstyle in {"format", "pyformat"}:
            pieces = tuple(piece.replace("%", "%%") for piece in pieces)
        return pieces[0] + "".join(mark(number) + piece for number, piece in enumerate(pieces[1:], 1))


def _pieces(sql: str, grammar: Grammar) -> list[str]:
    pattern, pieces, kept, position = _PATTERNS[grammar], [""], 0, 0
    while found := pattern.search(sql, position):
        position = found.end()
        if found["open"]:
            raise PlanError(f"{shorten(sql[found.start() :], 40)} is not closed; in: {shorten(sql)}")
        if found["mark"] is None:
            if found.groupdict().get("block"):
                position = _end_of_block(sql, found.start())
            continue
        marks = len(found["mark"])
        operators = marks // 2 if grammar is Grammar.POSTGRESQL else 0
        pieces[-1] += sql[kept : found.start()] + "?" * operators
        pieces += [""] * (marks - 2 * operators)
        kept = position
        if sql[position : position + 1].isdigit():
            raise PlanError(f"placeholders must not be numbered: write ? for each value; in: {shorten(sql)}")
    pieces[-1] += sql[kept:]
    return pieces


def _end_of_block(sql: str, start: int) -> int:
    depth = 0
    for found in re.finditer(r"/\*|\*/", sql[start:]):
        depth += 1 if found[0] == "/*" else -1
        if not depth:
            return start + found.end()
    raise PlanError(f"a comment is not closed: {shorten(sql[start:], 40)}")
