"""``CREATE TABLE``: columns, watermark, key and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._catalog import Declared, DeclaredTable
from flintstream.table._errors import SqlError, unsupported
from flintstream.table._sql.dialect import parsed_expression, place_at
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._sql.type_reader import read_type

if TYPE_CHECKING:
    from flintstream.table._expressions.syntax import Syntax
    from flintstream.table._sql.dialect import Tokens


def create_table(tokens: Tokens) -> tuple[tuple[str, ...], DeclaredTable, bool]:
    """Read what follows ``CREATE TABLE``: the name, the table, and whether it may exist.

    Raises:
        SqlError: It is not a table.
    """
    lenient = tokens.take("IF", "NOT", "EXISTS")
    name = tokens.path()
    body = _Body(tokens)
    if tokens.take("("):
        body.read()
    comment = tokens.text() if tokens.take("COMMENT") else None
    if tokens.peek() == "DISTRIBUTED":
        raise unsupported("DISTRIBUTED BY", tokens.place(), "leave it out")
    partitions: tuple[str, ...] = ()
    if tokens.take("PARTITIONED", "BY"):
        partitions = names_in_parentheses(tokens)
    options = options_of(tokens) if tokens.take("WITH") else {}
    for clause, instead in (("LIKE", "repeat the columns"), ("AS", "create the table, then INSERT INTO it")):
        if tokens.peek() == clause:
            raise unsupported(f"CREATE TABLE ... {clause}", tokens.place(), instead)
    ended(tokens)
    if not body.columns:
        raise SqlError(f"table '{name[-1]}' has no columns")
    table = DeclaredTable(tuple(body.columns), options, body.watermark, body.key, partitions, comment)
    return name, table, lenient


def options_of(tokens: Tokens) -> dict[str, str]:
    """Read ``('key' = 'value', ...)``."""
    tokens.expect("(")
    found: dict[str, str] = {}
    while not tokens.take(")"):
        key = tokens.text()
        tokens.expect("=")
        found[key] = tokens.text()
        if not tokens.take(",") and tokens.peek() != ")":
            raise SqlError(f"expected ',' or ')' but found '{tokens.peek()}' at {tokens.place()}")
    return found


def names_in_parentheses(tokens: Tokens) -> tuple[str, ...]:
    """Read ``(a, b)``."""
    tokens.expect("(")
    found = [tokens.name()]
    while tokens.take(","):
        found.append(tokens.name())
    tokens.expect(")")
    return tuple(found)


def ended(tokens: Tokens) -> None:
    """Refuse what follows a complete statement.

    Raises:
        SqlError: There is something.
    """
    if not tokens.ended:
        raise SqlError(f"unexpected '{tokens.peek()}' at {tokens.place()}")


class _Body:
    """The parentheses of ``CREATE TABLE``."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.columns: list[Declared] = []
        self.watermark: tuple[str, Syntax] | None = None
        self.key: tuple[str, ...] = ()

    def read(self) -> None:
        """Read up to the closing parenthesis."""
        tokens = self.tokens
        while not tokens.take(")"):
            if tokens.take("WATERMARK", "FOR"):
                column = tokens.name()
                tokens.expect("AS")
                self.watermark = (column, self.expression())
            elif tokens.peek() == "CONSTRAINT" or (tokens.peek() == "PRIMARY" and tokens.peek(1) == "KEY"):
                if tokens.take("CONSTRAINT"):
                    tokens.name()
                tokens.expect("PRIMARY", "KEY")
                self.key = names_in_parentheses(tokens)
                self.not_enforced()
            else:
                self.columns.append(self.column())
            if not tokens.take(",") and tokens.peek() != ")":
                raise SqlError(f"expected ',' or ')' but found '{tokens.peek()}' at {tokens.place()}")

    def expression(self) -> Syntax:
        """Read an expression up to ',' or ')'."""
        parsed = parsed_expression(self.tokens.sql, self.tokens.until(",", ")", "COMMENT"))
        return ExpressionReader(parsed).read(parsed.tree.expressions[0])

    def not_enforced(self) -> None:
        """Read ``NOT ENFORCED``, which a key must have: no connector checks it."""
        if not self.tokens.take("NOT", "ENFORCED"):
            raise SqlError(
                f"PRIMARY KEY at {self.tokens.place()} must be NOT ENFORCED: Flink doesn't own the data, and cannot check it"  # noqa: E501
            )

    def column(self) -> Declared:
        """Read a column."""
        tokens = self.tokens
        name = tokens.name()
        if tokens.take("AS"):
            return Declared(name, None, self.expression(), comment=self.comment())
        sql = tokens.sql
        data_type, tokens.position = read_type(tokens.all, tokens.position, lambda token: place_at(sql, token.start))
        metadata, virtual = None, False
        if tokens.take("METADATA"):
            metadata = tokens.text() if tokens.take("FROM") else name
            virtual = tokens.take("VIRTUAL")
        if tokens.take("PRIMARY", "KEY"):
            self.key = (name,)
            self.not_enforced()
        return Declared(name, data_type, None, metadata, virtual, self.comment())

    def comment(self) -> str | None:
        """Read a comment, if there is one."""
        return self.tokens.text() if self.tokens.take("COMMENT") else None
