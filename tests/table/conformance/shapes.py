"""Shapes of Python functions: how many are tried in one job, and how their results are written.

A job with Python functions takes real PyFlink seconds, so that functions of rows share one: each is a column.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Thunk = Callable[[], Any]

PROCESS = {"python.execution-mode": "process"}
FAILS = "an error"


def left(result: Any) -> list[Any]:
    """Return the rows that the changes of a result leave behind, in an order that does not depend on the changes."""
    rows: list[Any] = []
    with result.collect() as changes:
        for row in changes:
            if row.get_row_kind().value in {0, 2}:
                rows.append(tuple(row))
            else:
                rows.remove(tuple(row))
    return sorted(rows, key=repr)


def queries(t_env: Any, named: Mapping[str, Thunk | str]) -> list[Any]:
    """Return the name and the rows of each query, which is SQL or a function that returns a table."""
    found: list[Any] = []
    for name, query in named.items():
        try:
            found.append((name, left(t_env.execute_sql(query) if isinstance(query, str) else query().execute())))
        except Exception:  # noqa: BLE001 - errors are results here
            found.append((name, FAILS))
    return found


def columns(table: Any, key: Any, named: Mapping[str, Thunk]) -> list[Any]:
    """Return the name and the values of each expression over the rows of a table, which are sorted by a key."""
    made: dict[str, Any] = {}
    results: dict[str, Any] = {}
    for name, thunk in named.items():
        try:
            made[name] = thunk()
            table.select(made[name])
        except Exception:  # noqa: BLE001
            made.pop(name, None)
            results[name] = FAILS
    results |= _by_halves(table, key, list(made.items()))
    return [(name, results[name]) for name in named]


def _by_halves(table: Any, key: Any, expressions: list[tuple[str, Any]]) -> dict[str, Any]:
    if not expressions:
        return {}
    try:
        with table.select(key, *(item for _, item in expressions)).execute().collect() as rows:
            values = sorted((tuple(row) for row in rows), key=lambda row: row[0])
        return {name: [row[i] for row in values] for i, (name, _) in enumerate(expressions, 1)}
    except Exception:  # noqa: BLE001
        if len(expressions) == 1:
            return {expressions[0][0]: FAILS}
    middle = len(expressions) // 2
    return _by_halves(table, key, expressions[:middle]) | _by_halves(table, key, expressions[middle:])


def outcome(make):
    """Return the names of the columns of a table and the rows that its changes leave, or that it fails."""
    try:
        table = make()
        names = table.get_schema().get_field_names()
        left: Counter[str] = Counter()
        with table.execute().collect() as rows:
            for row in rows:
                left[str([str(value) for value in row])] += 1 if row.get_row_kind().value in {0, 2} else -1
    except Exception:  # noqa: BLE001 - the error is the outcome
        return "an error"
    return [names, sorted((+left).elements())]


def outcomes(*makers):
    """Return what each of several tables has."""
    return [outcome(make) for make in makers]
