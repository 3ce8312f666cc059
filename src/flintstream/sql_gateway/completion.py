"""What may follow at a place of a statement: words of SQL, and names of the catalog."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.errors import FlintstreamError
from flintstream.table._owners import sql_functions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.table.table_environment import TableEnvironment

STATEMENTS = (
    "ALTER", "BEGIN STATEMENT SET", "CREATE", "DESCRIBE", "DROP", "END", "EXECUTE", "EXPLAIN", "INSERT", "LOAD",
    "RESET", "SELECT", "SET", "SHOW", "STOP JOB", "UNLOAD", "USE", "VALUES", "WITH",
)  # fmt: skip
_AFTER = {
    "ALTER": "CATALOG DATABASE TABLE VIEW",
    "CREATE": "CATALOG DATABASE FUNCTION OR TABLE TEMPORARY VIEW",
    "DROP": "CATALOG DATABASE FUNCTION TABLE TEMPORARY VIEW",
    "DESCRIBE": "CATALOG EXTENDED JOB",
    "EXECUTE": "PLAN STATEMENT",
    "EXPLAIN": "CHANGELOG_MODE ESTIMATED_COST INSERT JSON_EXECUTION_PLAN PLAN_ADVICE SELECT",
    "INSERT": "INTO OVERWRITE",
    "SHOW": "CATALOGS COLUMNS CREATE CURRENT DATABASES FULL FUNCTIONS JARS JOBS MODULES PARTITIONS TABLES VIEWS",
    "USE": "CATALOG MODULES",
}
_CLAUSES = (
    "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "CROSS JOIN", "DESC", "DISTINCT", "ELSE", "END", "EXCEPT",
    "EXISTS", "FALSE", "FROM", "FULL JOIN", "GROUP BY", "HAVING", "IN", "INNER JOIN", "INTERSECT", "INTERVAL",
    "IS NULL", "IS NOT NULL", "JOIN", "LATERAL TABLE", "LEFT JOIN", "LIKE", "LIMIT", "NOT", "NULL", "ON", "OR",
    "ORDER BY", "OVER", "PARTITION BY", "RIGHT JOIN", "SELECT", "TABLE", "THEN", "TRUE", "TRY_CAST", "UNION ALL",
    "UNNEST", "VALUES", "WHEN", "WHERE", "WITH",
)  # fmt: skip
_NAMES_FOLLOW = {"FROM", "JOIN", "INTO", "DESCRIBE", "DESC", "TABLE", "VIEW", "OVERWRITE", "UPDATE"}
_WORD = re.compile(r"[\w$.`]*$")
_TABLES = re.compile(r"\b(?:FROM|JOIN)\s+([\w$.]+)", re.IGNORECASE)


def candidates(environment: TableEnvironment, statement: str, position: int) -> list[str]:
    """Return what the word at a position may become, sorted.

    Args:
        environment: whose catalog has the names.
        statement: the text so far.
        position: the place of the cursor, in characters.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> candidates(environment, "SHOW TA", 7)
    ['TABLES']
    """
    before = statement[:position]
    word = word_before(before)
    words = before[: len(before) - len(word)].upper().split()
    if not words:
        known: Iterable[str] = STATEMENTS
    elif len(words) == 1 and words[0] in _AFTER:
        known = _AFTER[words[0]].split()
        if words[0] == "DESCRIBE":
            known = [*known, *_tables(environment)]
    elif words[-1] in _NAMES_FOLLOW:
        known = _tables(environment)
    elif words[0] == "USE":
        known = environment.list_catalogs() if words[-1] == "CATALOG" else environment.list_databases()
    else:
        known = [*_columns(environment, statement), *_tables(environment), *_functions(environment), *_CLAUSES]
    return sorted({item for item in known if item.upper().startswith(word.upper()) and item != word})


def word_before(text: str) -> str:
    """Return the word at the end of a text, which may be a path.

    >>> word_before("SELECT * FROM shop.ord")
    'shop.ord'
    """
    found = _WORD.search(text)
    return "" if found is None else found[0]


def _tables(environment: TableEnvironment) -> list[str]:
    return environment.list_tables()


def _functions(environment: TableEnvironment) -> list[str]:
    return sql_functions(environment)


def _columns(environment: TableEnvironment, statement: str) -> list[str]:
    """Return the columns of the tables that the statement reads, as far as they are declared."""
    names: list[str] = []
    for path in _TABLES.findall(statement):
        try:
            names += environment.from_path(path).get_schema().get_field_names()
        except FlintstreamError:  # not yet complete, or a name that WITH gives
            continue
    return names
