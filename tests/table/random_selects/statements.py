"""Random SELECT statements in both dialects.

Left out, since Flink gives nothing or refuses: aggregates of all rows of what may be empty (no row in STREAMING mode), and
full joins with more than equalities. An ORDER BY with LIMIT names all columns, and so does that of ROW_NUMBER: ties
could be broken in any way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.table.random_selects.expressions import (
    BOOL,
    DATE,
    DECIMAL,
    FLOAT,
    INT,
    KINDS,
    LONG,
    TEXT,
    TIME,
    Chance,
    Code,
    Column,
    Expressions,
    Table,
    code,
    often,
    pick,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_ORDERED = (INT, LONG, FLOAT, DECIMAL, TEXT, DATE, TIME)


def statement(chance: Chance, tables: Sequence[Table]) -> Code:
    """Return a random query."""
    choice = chance.below(7)
    if choice == 4:
        kinds = tuple(pick(chance, KINDS) for _ in range(1 + chance.below(2)))
        operation = pick(chance, ("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
        return code(f"({{0}}) {operation} ({{1}})", plain(chance, tables, kinds), plain(chance, tables, kinds))
    if choice == 5:
        return numbered(chance, tables)
    if choice == 6:
        return windowed(chance, tables)
    if choice in {2, 3}:
        return grouped(chance, tables)
    kinds = tuple(pick(chance, _ORDERED) for _ in range(1 + chance.below(3)))
    found = plain(chance, tables, kinds)
    if not often(chance, 4):
        return found
    nulls = pick(chance, ("ASC NULLS FIRST", "DESC NULLS LAST", "ASC NULLS LAST", "DESC NULLS FIRST"))
    order = ", ".join(f"r{i} {nulls}" for i in range(len(kinds)))
    return code(f"SELECT * FROM ({{0}}) AS s ORDER BY {order} LIMIT {1 + chance.below(4)}", found)


def plain(chance: Chance, tables: Sequence[Table], kinds: Sequence[str]) -> Code:
    """Return a query with columns of these kinds, and without groups."""
    source, columns = sources(chance, tables)
    made = Expressions(chance, columns)
    values = [code(f"{{0}} AS r{i}", made.any(kind)) for i, kind in enumerate(kinds)]
    where = filters(chance, made, tables, columns)
    distinct = "DISTINCT " if often(chance, 4) else ""
    return code(f"SELECT {distinct}{{0}} FROM {{1}}{{2}}", listed(values), source, where)


def listed(parts: Sequence[Code]) -> Code:
    """Return parts with commas between them."""
    return Code(", ".join(part.flink for part in parts), ", ".join(part.duck for part in parts))


def reach(table: Table, alias: str) -> list[Column]:
    """Return the columns of a table under an alias."""
    return [Column(f"{alias}.{column.name}", column.kind) for column in table.columns]


def sources(chance: Chance, tables: Sequence[Table]) -> tuple[Code, list[Column]]:
    """Return a FROM clause, and the columns in reach: one table, or a join."""
    first = pick(chance, tables)
    if not often(chance, 2):
        return code(f"{first.name} AS a"), reach(first, "a")
    second = pick(chance, tables)
    columns = [*reach(first, "a"), *reach(second, "b")]
    pairs = [(x, y) for x in reach(first, "a") for y in reach(second, "b") if x.kind == y.kind]
    x, y = pick(chance, pairs)
    kind = pick(chance, ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    on = code(f"{x.name} = {y.name}")
    if kind != "FULL JOIN" and often(chance, 3):
        on = code("{0} AND {1}", on, Expressions(chance, columns).condition(1))
    return code(f"{first.name} AS a {kind} {second.name} AS b ON {{0}}", on), columns


def filters(chance: Chance, made: Expressions, tables: Sequence[Table], columns: Sequence[Column]) -> Code:
    """Return a WHERE clause, or nothing."""
    choice = chance.below(5)
    if choice < 2:
        return code("")
    if choice < 4:
        return code(" WHERE {0}", made.condition())
    other = pick(chance, tables)
    x = pick(chance, [column for column in columns if column.kind == INT])
    test = pick(chance, ("IN", "EXISTS", "NOT EXISTS"))
    if test == "IN":
        return code(f" WHERE {x.name} IN (SELECT s.c0 FROM {other.name} AS s)")
    return code(f" WHERE {test} (SELECT 1 FROM {other.name} AS s WHERE s.c0 = {x.name})")


def aggregate(chance: Chance, made: Expressions) -> Code:
    """Return an aggregate."""
    choice = chance.below(6)
    if choice == 0:
        found = code("COUNT(*)")
    elif choice == 1:
        found = code("COUNT({0})", made.any(pick(chance, KINDS), 1))
    elif choice == 2:
        found = code("COUNT(DISTINCT {0})", made.any(pick(chance, KINDS), 1))
    elif choice == 3:
        function = pick(chance, ("SUM({0})", "SUM(DISTINCT {0})"))
        found = code(function, made.any(pick(chance, (INT, LONG, FLOAT, DECIMAL)), 1))
    elif choice == 4:
        found = code(pick(chance, ("MIN({0})", "MAX({0})")), made.any(pick(chance, _ORDERED), 1))
    else:
        found = code("AVG({0})", made.any(FLOAT, 1))
    return code("{0} FILTER (WHERE {1})", found, made.condition(1)) if often(chance, 4) else found


def grouped(chance: Chance, tables: Sequence[Table]) -> Code:
    """Return a query with groups; sometimes groups of groups, so that aggregates have changes as input."""
    source, columns = sources(chance, tables)
    count = chance.below(3)
    if not count:  # of all rows: there must be some
        first = pick(chance, tables)
        source, columns = code(f"{first.name} AS a"), reach(first, "a")
    made = Expressions(chance, columns)
    keys = [made.any(pick(chance, KINDS), 1) for _ in range(count)]
    within = code("SELECT {0} FROM {1}{2}", listed([
        *(code(f"{{0}} AS k{i}", key) for i, key in enumerate(keys)),
        *(code(f"{column.name} AS {column.name.replace('.', '_')}") for column in columns),
    ]), source, filters(chance, made, tables, columns) if count else code(""))  # fmt: skip
    below = Expressions(chance, [Column(column.name.replace(".", "_"), column.kind) for column in columns])
    names = [f"k{i}" for i in range(count)]
    results = [aggregate(chance, below) for _ in range(1 + chance.below(3))]
    selected = listed([*map(code, names), *(code(f"{{0}} AS r{i}", item) for i, item in enumerate(results))])
    by = f" GROUP BY {', '.join(names)}" if names else ""
    having = code(" HAVING COUNT(*) > 1") if names and often(chance, 4) else code("")
    found = code(f"SELECT {{0}} FROM ({{1}}) AS s{by}{{2}}", selected, within, having)
    if not names or not often(chance, 3):
        return found
    return code("SELECT n, COUNT(*) AS m, MIN(n) AS smallest FROM (SELECT COUNT(*) AS n FROM ({0}) AS u GROUP BY k0) "
                "AS v GROUP BY n", found)  # fmt: skip


def numbered(chance: Chance, tables: Sequence[Table]) -> Code:
    """Return the first rows of each key."""
    table = pick(chance, tables)
    names = [column.name for column in table.columns]
    sortable = [column.name for column in table.columns if column.kind != BOOL]
    direction = pick(chance, ("ASC NULLS FIRST", "DESC NULLS LAST"))
    # What sorts last, a Boolean, is the key: rows that differ in it are of other groups.
    booleans = [column.name for column in table.columns if column.kind == BOOL]
    key = ", ".join([*booleans, pick(chance, names)])
    order = ", ".join(f"{name} {direction}" for name in sortable)
    columns = ", ".join([*names, *(["n"] if often(chance, 2) else [])])
    return code(
        f"SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {order}) AS n "
        f"FROM {table.name}) AS s WHERE n <= {1 + chance.below(3)}"
    )


def windowed(chance: Chance, tables: Sequence[Table]) -> Code:
    """Return aggregates of windows of the time of a table, which ``running`` declares for each."""
    table = pick(chance, tables)
    made = Expressions(chance, reach(table, "w"))
    results = listed([code(f"{{0}} AS r{i}", aggregate(chance, made)) for i in range(1 + chance.below(2))])
    seconds = pick(chance, (10, 3))
    return code(
        f"SELECT w.window_start, w.c0, {{0}} FROM TABLE(TUMBLE(TABLE {table.name}, DESCRIPTOR(event_time), "
        f"INTERVAL '{seconds}' SECOND)) AS w GROUP BY w.window_start, w.window_end, w.c0",
        results,
        duck=f"SELECT w.window_start, w.c0, {{0}} FROM (SELECT *, time_bucket(INTERVAL '{seconds} seconds', event_time, "
        f"TIMESTAMP '1970-01-01') AS window_start FROM {table.name}) AS w GROUP BY w.window_start, w.c0",
    )
