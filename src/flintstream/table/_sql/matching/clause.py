"""The clauses of MATCH_RECOGNIZE as tokens: sqlglot knows neither WITHIN nor SKIP TO a variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, place_at, unsupported
from flintstream.table._sql.nesting import arguments
from flintstream.table._syntax.queries import Subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.tokenizer_core import Token

    from flintstream.table._errors import Place
    from flintstream.table._syntax.queries import Skip

_ENDS = frozenset({"MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE", "ORDER BY", "ORDER"})
"""Words with which another clause begins."""
_VARIABLES: dict[str, Skip] = {"FIRST": "TO FIRST", "LAST": "TO LAST"}
_SPACE = " "


@dataclass(frozen=True)
class MatchClause:
    """MATCH_RECOGNIZE as it is written."""

    place: Place
    table: str
    """The name that AS gives to the table; empty without one."""
    partition: list[list[Token]]
    order: list[Token]
    measures: list[list[Token]]
    skip: tuple[Skip, str]
    pattern: list[Token]
    within: list[Token]
    subsets: list[Subset]
    define: list[tuple[str, list[Token]]]
    """The variables and their conditions."""
    alias: str
    """The name of the result; empty without one."""
    columns: tuple[str, ...]
    """Other names for its columns."""


class Clauses:
    """A cursor over the tokens of MATCH_RECOGNIZE."""

    def __init__(self, sql: str, tokens: Sequence[Token], position: int) -> None:
        """Begin at the word MATCH_RECOGNIZE."""
        self.sql, self.tokens, self.position = sql, tokens, position

    def read(self, table: str) -> MatchClause:
        """Read all clauses, and go past them.

        Raises:
            SqlError: One is missing, or something else follows.
            UnsupportedClauseError: It has ALL ROWS PER MATCH.
        """
        place = self._place()
        self._expect("MATCH_RECOGNIZE", "(")
        partition = split(self._until()) if self._take("PARTITION BY") or self._take("PARTITION", "BY") else []
        order = self._until() if self._take("ORDER BY") or self._take("ORDER", "BY") else []
        measures = split(self._until()) if self._take("MEASURES") else []
        if not measures:
            raise SqlError(f"MATCH_RECOGNIZE at {place} has no MEASURES: write what a match becomes, MEASURES A.x AS x")
        if self._peek() == "ALL":
            instead = "write ONE ROW PER MATCH, and ARRAY_AGG(A.x) for the values of its rows"
            raise unsupported("ALL ROWS PER MATCH", self._place(), instead)
        self._take("ONE", "ROW", "PER", "MATCH")
        skip = self._skip()
        self._expect("PATTERN", "(")
        pattern = self._in_parentheses()
        within = self._until() if self._take("WITHIN") else []
        subsets = [self._subset(part) for part in split(self._until())] if self._take("SUBSET") else []
        self._expect("DEFINE")
        define = [self._condition(part) for part in split(self._until()) or [[]]]
        self._expect(")")
        return MatchClause(
            place, table, partition, order, measures, skip, pattern, within, subsets, define, *self._alias()
        )

    def _peek(self) -> str:
        """Return the next word in capital letters; empty at the end, and for what is quoted."""
        if self.position >= len(self.tokens):
            return ""
        token = self.tokens[self.position]
        quoted = token.token_type.name in {"STRING", "IDENTIFIER"}
        return "" if quoted else _SPACE.join(str(token.text).upper().split())

    def _place(self) -> Place:
        return place_at(self.sql, self.tokens[min(self.position, len(self.tokens) - 1)].start)

    def _take(self, *words: str) -> bool:
        start = self.position
        for word in words:
            if self._peek() != word:
                self.position = start
                return False
            self.position += 1
        return True

    def _expect(self, *words: str) -> None:
        for word in words:
            if not self._take(word):
                ended = self.position >= len(self.tokens)
                found = "the end" if ended else f"'{self.tokens[self.position].text}'"
                raise SqlError(f"expected {word} in MATCH_RECOGNIZE, but found {found} at {self._place()}")

    def _name(self) -> str:
        token = self.tokens[self.position] if self.position < len(self.tokens) else None
        if (
            token is None
            or token.token_type.name == "STRING"
            or not (token.text[:1].isalpha() or token.text[:1] == "_")
        ):
            raise SqlError(f"expected a name in MATCH_RECOGNIZE at {self._place()}")
        self.position += 1
        return str(token.text)

    def _until(self) -> list[Token]:
        """Return the tokens of a clause, and go past them."""
        depth, start = 0, self.position
        while self.position < len(self.tokens):
            word = self._peek()
            before = str(self.tokens[self.position - 1].text).upper()
            if depth == 0 and (word == ")" or (word in _ENDS and before not in {".", "AS"})):
                break
            depth += (word in {"(", "["}) - (word in {")", "]"})
            self.position += 1
        return list(self.tokens[start : self.position])

    def _in_parentheses(self) -> list[Token]:
        """Return the tokens up to a closing parenthesis, and go past it."""
        start = self.position
        _, self.position = arguments(self.tokens, start)
        return list(self.tokens[start : self.position - 1])

    def _skip(self) -> tuple[Skip, str]:
        if not self._take("AFTER"):
            return "TO NEXT ROW", ""
        self._expect("MATCH", "SKIP")
        if self._take("PAST"):
            self._expect("LAST", "ROW")
            return "PAST LAST ROW", ""
        self._expect("TO")
        if self._take("NEXT", "ROW"):
            return "TO NEXT ROW", ""
        following = str(self.tokens[self.position + 1].text).upper() if self.position + 1 < len(self.tokens) else ""
        word = self._peek()
        if word in _VARIABLES and following != "PATTERN":
            self.position += 1
            return _VARIABLES[word], self._name()
        return "TO LAST", self._name()

    def _subset(self, part: list[Token]) -> Subset:
        place = place_at(self.sql, part[0].start) if part else self._place()
        name, *signs = [str(token.text) for token in part] or [""]
        if signs[:2] != ["=", "("] or signs[-1] != ")" or set(signs[3:-1:2]) - {","} or len(signs) % 2:
            raise SqlError(f"SUBSET at {place} takes names for several variables: SUBSET AB = (A, B)")
        return Subset(place, name, tuple(signs[2:-1:2]))

    def _condition(self, part: list[Token]) -> tuple[str, list[Token]]:
        if len(part) < 3 or str(part[1].text).upper() != "AS":
            place = place_at(self.sql, part[0].start) if part else self._place()
            raise SqlError(f"DEFINE at {place} takes conditions of variables: DEFINE A AS A.x > 1")
        return str(part[0].text), part[2:]

    def _alias(self) -> tuple[str, tuple[str, ...]]:
        """Return the name of the result and those of its columns, if there are any."""
        token = self.tokens[self.position] if self.position < len(self.tokens) else None
        if not self._take("AS") and (token is None or token.token_type.name not in {"VAR", "IDENTIFIER"}):
            return "", ()
        name = self._name()
        columns = split(self._in_parentheses()) if self._take("(") else []
        return name, tuple(str(part[0].text) for part in columns if part)


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens between commas outside parentheses."""
    if not tokens:
        return []
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        sign = "" if token.token_type.name == "STRING" else token.text
        depth += (sign in {"(", "["}) - (sign in {")", "]"})
        if sign == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
