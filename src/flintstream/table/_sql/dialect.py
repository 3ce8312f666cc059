"""Flink's SQL as a dialect of sqlglot, and the tokens of a statement."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from flintstream.errors import optional_module
from flintstream.table._errors import SqlError, place_at, unsupported
from flintstream.table._sql import json_clauses
from flintstream.table._sql.clauses import refuse_unread, reserved_word
from flintstream.table._sql.hints import hints_after, is_hinted
from flintstream.table._sql.matching.clause import Clauses
from flintstream.table._sql.nesting import arguments, refuse_deep_nesting, refuse_stray_commas
from flintstream.table._sql.short_forms import name_token, read_differences, written_out
from flintstream.table._sql.texts import read_texts
from flintstream.table._syntax.reserved_words import RESERVED
from flintstream.table._types.reader import read_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot.tokenizer_core import Token, TokenType

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place
    from flintstream.table._sql import exp
    from flintstream.table._sql.matching.clause import MatchClause
    from flintstream.table._syntax.queries import Hint, WindowKind

WINDOWS: dict[str, WindowKind] = {"TUMBLE": "TUMBLE", "HOP": "HOP", "CUMULATE": "CUMULATE", "SESSION": "SESSION"}
CHANGELOGS = ("TO_CHANGELOG", "FROM_CHANGELOG")
_PROVIDER = "it needs a provider of models, which is a class of Java: call the model in a Python function"
IN_JAVA = {
    "ML_PREDICT": _PROVIDER,
    "ML_EVALUATE": _PROVIDER,
    "VECTOR_SEARCH": "it needs a connector with vectors, which is a class of Java: search in a Python function",
}
"""Table functions that PyFlink's package alone cannot run."""
_TABLE_FUNCTIONS = (*WINDOWS, *CHANGELOGS)
_TYPES_AFTER = {"CAST": "AS", "TRY_CAST": "AS", "JSON_VALUE": "RETURNING", "JSON_QUERY": "RETURNING"}
"""The word before the type in the parentheses of a function."""
_FUNCTIONS = {"SESSION", "JSON"}
"""Words of sqlglot that are names of functions here."""

_KEPT = ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "POSITION", "OVERLAY", "FLOOR", "CEIL", "JSON_OBJECTAGG")
"""Functions with a syntax of their own. sqlglot would translate all others to its own names."""


@cache
def _dialect() -> Any:
    """Return the dialect; sqlglot is loaded when the first statement comes."""
    sqlglot = optional_module("sqlglot", extra="table", purpose="SQL")
    dialects = optional_module("sqlglot.dialects.dialect", extra="table", purpose="SQL")
    parser = sqlglot.parser.Parser

    class Tokenizer(sqlglot.tokens.Tokenizer):  # type: ignore[name-defined,misc]  # loaded by name
        IDENTIFIERS: ClassVar = ["`"]
        QUOTES: ClassVar = ["'"]
        COMMANDS: ClassVar[set[TokenType]] = set()  # words whose statements sqlglot would not cut into tokens
        STRING_ESCAPES: ClassVar = ["'"]
        HEX_STRINGS: ClassVar = [("x'", "'"), ("X'", "'")]
        UNICODE_STRINGS: ClassVar = [("u&'", "'"), ("U&'", "'")]

    class FlinkParser(parser):  # type: ignore[valid-type,misc]
        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}
        FUNCTION_PARSERS: ClassVar = {name: parser.FUNCTION_PARSERS[name] for name in _KEPT}
        FUNCTION_PARSERS["JSON_ARRAYAGG"] = lambda self: self.expression(
            sqlglot.exp.JSONArrayAgg(
                this=self._parse_order(this=self._parse_bitwise()),
                null_handling=self._parse_on_handling("NULL", "NULL", "ABSENT"),
            )
        )
        FUNCTION_PARSERS.update(json_clauses.parsers(sqlglot))

        def _parse_case(self) -> object:
            """Read CASE, where WHEN lists one or more values for the same result."""
            kinds, branches, subject = sqlglot.tokens.TokenType, [], self._parse_disjunction()
            while self._match(kinds.WHEN):
                values = self._parse_csv(self._parse_disjunction)
                result = self._parse_disjunction() if self._match(kinds.THEN) else None
                branches += [sqlglot.exp.If(this=value, true=result) for value in values]
            default = self._parse_disjunction() if self._match(kinds.ELSE) else None
            self._match(kinds.END) or self.raise_error("CASE needs END", self._prev)
            return self.expression(sqlglot.exp.Case(this=subject, ifs=branches, default=default))

    return type("Flintstream", (dialects.Dialect,), {"Tokenizer": Tokenizer, "Parser": FlinkParser})()


_PAIRS = ("DOUBLE PRECISION", "PARTITIONED BY", "PRIMARY KEY")


def _words(token: Token) -> list[Any]:
    """Return two tokens for a pair of words of DDL, which sqlglot reads as one."""
    first, space, second = str(token.text).upper().partition(" ")
    if f"{first}{space}{second.strip()}" not in _PAIRS or token.token_type.name in {"STRING", "IDENTIFIER"}:
        return [token]
    kind, word = type(token), type(token.token_type).VAR
    cut = token.end + 1 - len(second.strip())
    ends = (token.line, token.col)
    return [
        kind(word, first, *ends, token.start, token.start + len(first) - 1),
        kind(word, second.strip(), *ends, cut, token.end),
    ]


class Tokens:
    """A cursor over the tokens of a statement."""

    def __init__(self, sql: str) -> None:
        """Cut a statement into tokens.

        Raises:
            SqlError: It has a text or comment without end, or no token.
        """
        self.sql = sql
        dialect = _dialect()
        try:
            tokens = [part for token in dialect.tokenize(sql) for part in _words(token)]
        except Exception as error:
            raise SqlError(f"the statement cannot be read: {error}") from error
        tokens = read_texts(sql, tokens)
        while tokens and tokens[-1].text == ";":
            tokens.pop()
        if not tokens:
            raise SqlError("SQL parse failed, only single statement supported: there is none")
        words = " ".join(str(token.text).upper() for token in tokens[:12])
        several = words.startswith(("EXECUTE STATEMENT SET", "EXPLAIN", "COMPILE")) and "STATEMENT SET BEGIN" in words
        if not several and any(token.text == ";" and token.token_type.name == "SEMICOLON" for token in tokens):
            raise SqlError("only single statement supported: split the text at ';', or use a statement set")
        refuse_deep_nesting(tokens, lambda token: place_at(sql, token.start))
        self.all: list[Any] = tokens
        self.position = 0
        self.strict = False
        """Whether words that Flink reserves are refused as names."""

    @property
    def ended(self) -> bool:
        """Whether no token is left."""
        return self.position >= len(self.all)

    def peek(self, ahead: int = 0) -> str:
        """Return a token in capital letters, with quotes if it is a text or quoted name; empty at the end."""
        if self.position + ahead >= len(self.all):
            return ""
        token = self.all[self.position + ahead]
        if token.token_type.name == "STRING":
            return f"'{token.text}'"
        if self.sql[token.start : token.start + 1] == "`":
            return f"`{token.text}`"
        return str(token.text).upper()

    def place(self, ahead: int = 0) -> Place:
        """Return where a token is."""
        last = len(self.all) - 1
        return place_at(self.sql, self.all[min(self.position + ahead, last)].start if last >= 0 else len(self.sql))

    def next(self) -> str:
        """Return a token as it is written, and go on."""
        if self.ended:
            raise SqlError("the statement ends unexpectedly")
        self.position += 1
        return str(self.all[self.position - 1].text)

    def take(self, *words: str) -> bool:
        """Go past words if they follow, and return whether they did."""
        if all(self.peek(i) == word for i, word in enumerate(words)):
            self.position += len(words)
            return True
        return False

    def expect(self, *words: str) -> None:
        """Go past words.

        Raises:
            SqlError: Something else follows.
        """
        for word in words:
            if not self.take(word):
                found = f"'{self.peek()}'" if not self.ended else "the end"
                raise SqlError(f"expected {' '.join(words)} but found {found} at {self.place()}")

    def name(self) -> str:
        """Return a name, and go on."""
        if self.peek()[:1] == "'" or not (self.peek()[:1].isalpha() or self.peek()[:1] in "`_$"):
            raise SqlError(f"expected a name but found '{self.peek()}' at {self.place()}")
        if self.strict and self.peek() in RESERVED:
            raise reserved_word(self.peek(), self.place())
        return self.next()

    def path(self) -> tuple[str, ...]:
        """Return a name with dots, and go on."""
        parts = [self.name()]
        while self.take("."):
            parts.append(self.name())
        return tuple(parts)

    def text(self) -> str:
        """Return a text in quotes, and go on."""
        if self.peek()[:1] != "'":
            raise SqlError(f"expected a string in quotes but found '{self.peek()}' at {self.place()}")
        return self.next()

    def hints(self) -> list[Hint]:
        """Return the hints after the last token."""
        last = self.all[self.position - 1]
        return hints_after(self.sql, last, Tokens, self.place(-1)) if is_hinted(self.sql, last) else []

    def until(self, *ends: str) -> list[Any]:
        """Return the tokens up to one of ``ends`` outside parentheses, and go there."""
        depth, start = 0, self.position
        while not self.ended:
            word = self.peek()
            if depth == 0 and word in ends:
                break
            depth += (word in {"(", "["}) - (word in {")", "]"})
            self.position += 1
        return self.all[start : self.position]

    def statement(self) -> Tokens:
        """Return a cursor over the tokens up to the next ';', and go past it."""
        part = copy(self)
        part.all, part.position = self.until(";"), 0
        self.take(";")
        return part

    def rest(self) -> list[Any]:
        """Return all tokens that are left."""
        found, self.position = self.all[self.position :], len(self.all)
        return found


@dataclass(frozen=True)
class WindowCall:
    """A window table function, or one of changes, as it is written."""

    kind: str
    place: Place
    table: Parsed | tuple[str, ...]
    """A query, or the name of a table."""
    sizes: list[tuple[str, Parsed]]
    """The names of arguments, empty if they have none, and their values."""
    partition: tuple[str, ...] = ()
    column: str = ""
    """That in DESCRIPTOR; empty without one."""


def _name_hint(token: Token) -> Token:
    """Return the token of a hint after SELECT that sqlglot reads as the name ``H``, then where the token ends."""
    return type(token)(token.token_type, "", token.line, token.col, token.start, token.end, [f"H{token.end}"])


def _begins_window(before: Sequence[Token], words: Sequence[str]) -> bool:
    """Return whether the name of a window function stands in FROM, where a key of GROUP BY has other arguments."""
    table = words[2:3] == ["TABLE"] or words[3:4] == ["=>"]
    in_from = bool(before) and before[-1].text.upper() in {"FROM", "JOIN", ","}
    return words[1:2] == ["("] and in_from and (table or before[-1].text != ",")


def _pop_name(tokens: list[Token]) -> str:
    """Remove ``AS name`` from the end, and return the name; empty if there is none."""
    if [token.text.upper() for token in tokens[-2:-1]] != ["AS"]:
        return ""
    name = tokens.pop().text
    tokens.pop()
    return str(name)


def _without_name(part: list[Any]) -> tuple[str, list[Any]]:
    """Return the name of ``NAME => value`` and the value."""
    named = len(part) > 2 and part[1].text == "=>"
    return (str(part[0].text).upper(), part[2:]) if named else ("", part)


class Parsed:
    """A query as sqlglot's tree, with the types of its casts."""

    def __init__(self, sql: str, tokens: Sequence[Any]) -> None:
        """Parse a query.

        Raises:
            SqlError: It is not SQL.
        """
        self.sql = sql
        self.types: list[DataType] = []
        self.windows: list[WindowCall] = []
        self.matches: list[MatchClause] = []
        self.hints: dict[int, list[Hint]] = {}
        """The hints, by the end of their own token after SELECT, and else of the token before them."""
        for token, after in zip(tokens, [*tokens[1:], None], strict=True):
            own = token.token_type.name == "HINT"
            before = after is not None and after.token_type.name == "HINT"
            if token.comments and (own or (not before and is_hinted(sql, token))):
                self.hints[token.end] = hints_after(sql, token, Tokens, place_at(sql, token.start))
        items = (token for token in tokens if token.token_type.name != "HINT")
        refuse_stray_commas(items, lambda token: place_at(sql, token.start))
        sqlglot = optional_module("sqlglot", extra="table", purpose="SQL")
        dialect = _dialect()
        replaced = written_out(self._without_types(read_differences(tokens)), dialect.tokenize)
        replaced = [_name_hint(token) if token.token_type.name == "HINT" else token for token in replaced]
        try:
            trees = dialect.parser().parse(replaced, sql)
        except sqlglot.errors.ParseError as error:
            first = error.errors[0] if error.errors else {}
            what = f"{first.get('description', error)} near '{first.get('highlight', '')}'"
            raise SqlError(f"{what} at line {first.get('line')}, column {first.get('col')}") from error
        self.tree: exp.Expr = trees[0]
        refuse_unread(self)

    def _without_types(self, tokens: list[Token]) -> list[Any]:
        """Replace the type of each cast by ``CHAR(n)``, n its position in ``types``: sqlglot does not know all."""
        found: list[Any] = []
        typed: list[tuple[int, str]] = []
        depth, i = 0, 0
        while i < len(tokens):
            token = tokens[i]
            words = [str(item.text).upper() for item in tokens[i : i + 4]]
            named = words[:2] == ["TABLE", "("] and words[3:] == ["("] and words[2] in _TABLE_FUNCTIONS
            if named or (words[0] in _TABLE_FUNCTIONS and _begins_window(found, words)):
                i = self._window(tokens, i + 2, ")") if named else self._window(tokens, i)
                found.append(name_token(token, f"$window{len(self.windows) - 1}"))
                continue
            if words[0] in IN_JAVA and words[1:2] == ["("]:
                raise unsupported(words[0], place_at(self.sql, token.start), IN_JAVA[words[0]])
            if words[:2] == ["MATCH_RECOGNIZE", "("]:
                clauses = Clauses(self.sql, tokens, i)
                self.matches.append(clauses.read(_pop_name(found)))
                found.append(name_token(token, f"$match{len(self.matches) - 1}"))
                i = clauses.position
                continue
            word = token.text.upper() if token.token_type.name != "STRING" else ""
            if word == "(":
                depth += 1
                before = _TYPES_AFTER.get(found[-1].text.upper()) if found else None
                if before is not None:
                    typed.append((depth, before))
            elif word == ")":
                if typed and typed[-1][0] == depth:
                    typed.pop()
                depth -= 1
            # As the name of a type, sqlglot would read what is in an ARRAY twice, and in ten of them 1,024 times.
            reserved = (word in _FUNCTIONS and words[1:2] == ["("]) or (word == "ARRAY" and words[1:2] == ["["])
            found.append(name_token(token, token.text) if reserved else token)
            i += 1
            if typed and typed[-1] == (depth, word):
                data_type, i = read_type(tokens, i, lambda t: place_at(self.sql, t.start))
                found += _dialect().tokenize(f"CHAR({len(self.types)})")
                self.types.append(data_type)
        return found

    def _window(self, tokens: list[Token], start: int, closing: str = "") -> int:
        """Read ``TUMBLE(TABLE t, DESCRIPTOR(ts), ...)`` and what closes ``TABLE(``; return the position after it."""
        place = place_at(self.sql, tokens[start].start)
        kind = str(tokens[start].text).upper()
        parts, end = arguments(tokens, start + 2)
        given: dict[str, Any] = {"partition": (), "sizes": []}
        for part in parts:
            name, part = _without_name(part)  # noqa: PLW2901 - the rest of it
            word = str(part[0].text).upper() if part else ""
            if word == "(":
                given["table"] = Parsed(self.sql, part[1:-1])
                for token in part:  # its hints are those of the inner query
                    self.hints.pop(token.end, None)
            elif word == "TABLE":
                given["table"], given["partition"] = self._window_table(part[1:])
            elif word == "DESCRIPTOR":
                given["column"] = str(part[2].text)
            else:
                given["sizes"].append((name, parsed_expression(self.sql, part)))
        if "table" not in given or ("column" not in given and kind not in CHANGELOGS):
            raise SqlError(f"{kind} at {place} needs TABLE ... and DESCRIPTOR(...)")
        self.windows.append(WindowCall(kind, place, **given))
        if closing and (end >= len(tokens) or tokens[end].text != closing):
            raise SqlError(f"expected ')' after {kind}(...) at {place}")
        return end + len(closing)

    def _window_table(self, part: list[Any]) -> tuple[Any, tuple[str, ...]]:
        texts = [str(item.text).upper() for item in part]
        if texts[:1] == ["("]:
            place = place_at(self.sql, part[0].start)
            raise SqlError(f"TABLE takes a name, but found '(' at {place}: write the query without TABLE, or a view")
        cut = next((i for i, text in enumerate(texts) if text in {"PARTITION", "PARTITION BY"}), len(part))
        keys = [str(item.text) for item in part[cut:] if item.text not in {",", "(", ")"}]
        names = tuple(key for key in keys if key.upper() not in {"PARTITION", "BY", "PARTITION BY"})
        return tuple(str(item.text) for item in part[:cut] if item.text != "."), names

    def place(self, node: exp.Expr) -> Place | None:
        """Return where a part of the query begins."""
        for item in node.walk():
            start = item.meta.get("start")
            if start is not None:
                return place_at(self.sql, start)
        return None


def parsed_expression(sql: str, tokens: Sequence[Token], before: str = "SELECT") -> Parsed:
    """Parse the tokens of an expression, or of a clause after what it needs ``before`` it."""
    return Parsed(sql, [*_dialect().tokenize(before), *tokens])
