"""Clauses that are read, and those that are refused: a clause that nothing reads is never left out in silence."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from flintstream.table._errors import StrictError, at, unsupported
from flintstream.table._sql import exp
from flintstream.table._sql.short_forms import UNITS
from flintstream.table._syntax.reserved_words import RESERVED, VALUES

if TYPE_CHECKING:
    from flintstream.table._errors import Place
    from flintstream.table._sql.dialect import Parsed, Tokens

_SETS = ("this", "expression", "distinct", "with_", "order", "limit", "offset")


@cache
def _read() -> dict[type[exp.Expr], tuple[str, ...]]:
    """Return what is read of each kind of clause, by sqlglot's names."""
    return {
        exp.Select: (
            "with_", "distinct", "expressions", "from_", "joins", "where", "group", "having", "windows", "order",
            "limit", "offset", "hint", "qualify", "sample",
        ),
        exp.Union: _SETS,
        exp.Intersect: _SETS,
        exp.Except: _SETS,
        exp.Subquery: ("this", "alias", "with_", "order", "limit", "offset", "sample"),
        exp.Values: ("expressions", "alias", "order", "limit", "offset", "with_", "sample"),
        exp.Distinct: ("expressions",),
        exp.Table: ("this", "db", "catalog", "alias", "version", "joins", "sample"),
        exp.TableSample: ("method", "size", "seed"),
        exp.Join: ("this", "on", "using", "side", "kind", "method"),
        exp.Group: ("expressions", "grouping_sets", "cube", "rollup"),
        exp.Ordered: ("this", "desc", "nulls_first"),
        exp.Limit: ("expression",),
        exp.Fetch: ("count", "direction", "limit_options"),
        exp.WindowSpec: ("kind", "start", "start_side", "end", "end_side"),
    }  # fmt: skip


REFUSED: dict[tuple[str, str], tuple[str, str]] = {
    ("Select", "laterals"): ("LATERAL VIEW", "write CROSS JOIN UNNEST(...), or LATERAL TABLE(...)"),
    ("Select", "into"): ("SELECT INTO", "write INSERT INTO"),
    ("Select", "sort"): ("SORT BY", "write ORDER BY"),
    ("Select", "cluster"): ("CLUSTER BY", "write ORDER BY"),
    ("Select", "distribute"): ("DISTRIBUTE BY", "rows are distributed by the keys of groups and joins"),
    ("Select", "locks"): ("FOR UPDATE", "tables have no locks"),
    ("Distinct", "on"): ("DISTINCT ON", "keep the first row of each key with ROW_NUMBER() = 1"),
    ("Table", "pivots"): ("PIVOT", "write an aggregate with FILTER (WHERE ...) for each column"),
    ("Subquery", "pivots"): ("PIVOT", "write an aggregate with FILTER (WHERE ...) for each column"),
    ("Table", "changes"): ("CHANGES", "read the table as a changelog"),
    ("Table", "when"): ("a version of a table", "write FOR SYSTEM_TIME AS OF"),
    ("Group", "all"): ("GROUP BY ALL", "name the keys"),
    ("Group", "totals"): ("WITH TOTALS", "write GROUPING SETS"),
    ("Ordered", "with_fill"): ("WITH FILL", "join with a table of all keys"),
    ("WindowSpec", "exclude"): ("EXCLUDE", "take the value of the current row out of the aggregate"),
}
"""Clauses by kind and sqlglot's name: how SQL calls each, and what to do instead."""

WORDS = {"MODEL": "call the model in a Python function"}
"""Words of clauses that sqlglot cannot read."""


def refuse_words(tokens: Tokens) -> None:
    """Refuse clauses by their words.

    Raises:
        UnsupportedClauseError: There is one.
    """
    for i, token in enumerate(tokens.all):
        word = str(token.text).upper()
        before = str(tokens.all[i - 1].text).upper() if i else ""
        if token.token_type.name in {"STRING", "IDENTIFIER"} or word not in WORDS:
            continue
        if before == "(":
            raise unsupported(word, tokens.place(i - tokens.position), WORDS[word])


def reserved_word(word: str, place: Place | None) -> StrictError:
    """Return the error for a word that Flink reserves."""
    return StrictError(
        f"Flink reserves the word '{word}'{at(place)}: write it as a name in backquotes, `{word.lower()}`"
    )


def refuse_what_flink_refuses(parsed: Parsed) -> None:
    """Refuse words that Flink reserves as names.

    Raises:
        SqlError: There is one.
    """
    for node in parsed.tree.walk():
        if isinstance(node, exp.Identifier) and not node.quoted and node.name.upper() in RESERVED and _is_name(node):
            raise reserved_word(node.name, parsed.place(node))
    for window in parsed.windows:
        if isinstance(window.table, type(parsed)):
            refuse_what_flink_refuses(window.table)


def _is_name(word: exp.Expr) -> bool:
    """Return whether a word is a name, and not CURRENT_DATE, the unit of TIMESTAMPADD, or LIMIT ALL."""
    column = word.parent
    if not isinstance(column, exp.Column) or len(column.parts) > 1:
        return True
    if word.name.upper() in VALUES or isinstance(column.parent, exp.Limit):
        return False
    return not (isinstance(column.parent, exp.Anonymous) and word.name.upper() in UNITS)


def refuse_unread(parsed: Parsed) -> None:
    """Refuse what no planner reads.

    Raises:
        UnsupportedClauseError: There is something.
    """
    for node in parsed.tree.walk():
        kind, read = type(node).__name__, _read().get(type(node))
        if read is None:
            continue
        for key, value in node.args.items():
            if value and key not in read:
                given = value[0] if isinstance(value, list) else value
                places = (parsed.place(item) for item in (given, node, parsed.tree) if hasattr(item, "walk"))
                place = next((item for item in places if item is not None), None)
                name = f"{kind.upper()} with {key.rstrip('_').replace('_', ' ')}"
                clause, instead = REFUSED.get((kind, key), (name, "leave it out"))
                raise unsupported(clause, place, instead)
