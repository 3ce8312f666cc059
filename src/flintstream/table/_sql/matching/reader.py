"""MATCH_RECOGNIZE: from tokens to syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, place_at
from flintstream.table._sql.dialect import parsed_expression
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._sql.matching.pattern import read_pattern
from flintstream.table._sql.ordering import sorted_by
from flintstream.table._syntax import queries as q
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.tokenizer_core import Token

    from flintstream.table._sql.matching.clause import MatchClause


def read_match(sql: str, functions: Mapping[str, Any], clause: MatchClause, table: q.Source) -> q.Source:
    """Return the matches among the rows of a table as a table in FROM.

    Raises:
        SqlError: An expression cannot be read, or a measure has no name.
        UnsupportedClauseError: The pattern is not supported.
    """

    def read(tokens: Sequence[Token]) -> s.Syntax:
        reader = ExpressionReader(parsed_expression(sql, tokens), functions)
        items = reader.parsed.tree.expressions
        if len(items) != 1:
            raise SqlError(f"expected an expression in MATCH_RECOGNIZE at {clause.place}")
        return reader.read(items[0])

    def measure(tokens: Sequence[Token]) -> s.Alias:
        found = read(_without_final(tokens))
        if not isinstance(found, s.Alias):
            place = place_at(sql, tokens[0].start)
            raise SqlError(f"the measure at {place} has no name: write MEASURES A.x AS x")
        return found

    order: tuple[tuple[s.Syntax, bool, bool], ...] = ()
    if clause.order:
        reader = ExpressionReader(parsed_expression(sql, clause.order, "SELECT * ORDER BY"), functions)
        order = tuple(sorted_by(reader, item) for item in reader.parsed.tree.args["order"].expressions)
    signs = [str(token.text) for token in clause.pattern]
    begin, end = signs[:1] == ["^"], len(signs) - (signs[-1:] == ["$"])
    anchors = "^" * begin + "$" * (end < len(signs))
    made = q.MatchRecognize(
        clause.place,
        table.table,
        clause.table or table.name,
        tuple(map(read, clause.partition)),
        order,
        tuple(map(measure, clause.measures)),
        clause.skip,
        read_pattern(sql, clause.pattern[begin:end]),
        read(clause.within) if clause.within else None,
        tuple(s.Alias(place_at(sql, tokens[0].start), read(tokens), (name,)) for name, tokens in clause.define),
        tuple(clause.subsets),
        anchors,
    )
    return q.Source(clause.place, made, clause.alias, clause.columns, clause.place)


def _without_final(tokens: Sequence[Token]) -> list[Token]:
    """Return a measure without the words FINAL, which say what holds anyway."""
    following = [str(token.text) for token in tokens[2:]] + ["", ""]
    return [
        token
        for token, after in zip(tokens, following, strict=True)
        if str(token.text).upper() != "FINAL" or after != "("
    ]
