"""The code that takes blocks of rows into groups, with the statements of all aggregates in its loops.

>>> from flintstream.common._types.data_types import DataTypes
>>> from flintstream.table._expressions.aggregates import AggregateCall
>>> from flintstream.table._expressions.aggregation.code import aggregation
>>> count = aggregation([AggregateCall("COUNT", None, DataTypes.BIGINT(), DataTypes.BIGINT())], retracts=False)
>>> print(changes(count, 1, stamped=False, frozen=False, changelog=False, always=False))
def changes(rows, groups, load, key, append):
    get = groups.get
    for r in rows:
        k = r[0]
        e = get(k)
        if e is None: e = load(k, r)
        a, before = e
        a[0] += 1
        a[1] += 1
        e[1] = after = (r[0], a[1], )
        if before is None:
            append((*after, 0))
        elif before != after:
            append((*before, 1))
            append((*after, 2))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._types.row_kinds import DELETE, INSERT, RETRACTIONS, UPDATE_AFTER, UPDATE_BEFORE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.table._expressions.aggregation.code import Aggregation

RETRACTS = f"r[-1] in {{{', '.join(map(str, sorted(RETRACTIONS)))}}}"
"""The code of whether a record ``r`` takes a row away."""


def changes(aggregation: Aggregation, keys: int, *, stamped: bool, frozen: bool, changelog: bool, always: bool) -> str:
    """Return the code of a function that emits what each row changes.

    ``groups`` has, by key, a list of the state and the last result; ``load(k, r)`` makes it for the group of a row, and
    ``empty(a)`` returns the state of a group that has lost its last row.

    Args:
        aggregation: The aggregates.
        keys: The number of columns at the start of a row that are the key.
        stamped: Whether rows come with times, and their results get them.
        frozen: Whether ``key`` returns the key of a row, which is not hashable as it is.
        changelog: Whether rows end with a kind of change.
        always: Whether results that did not change are emitted, so that state after this operator does not expire.
    """
    push = "; push(t)" if stamped else ""
    body = [
        f"k = {'key(r)' if frozen else 'r[0]' if keys == 1 else f'r[:{keys}]'}",
        "e = get(k)",
        "if e is None: e = load(k, r)",
        "a, before = e",
    ]
    if changelog:
        body += [
            f"if not {RETRACTS}:",
            *aggregation.add,
            "elif before is not None:",
            *aggregation.remove,
            "    if not a[0]:",
            f"        append((*before, {DELETE})){push}",
            "        e[:] = empty(a), None",
            "        continue",
            "else: continue",
        ]
    else:
        body += [line[4:] for line in aggregation.add]
    columns = "".join(f"r[{i}], " for i in range(keys))
    body += [
        f"e[1] = after = ({columns}{aggregation.results})",
        "if before is None:",
        f"    append((*after, {INSERT})){push}",
        "else:" if always else "elif before != after:",
        f"    append((*before, {UPDATE_BEFORE})){push}",
        f"    append((*after, {UPDATE_AFTER})){push}",
    ]
    return "\n".join(
        [
            f"def changes(rows, groups, load, key, append{', push' if stamped else ''}):",
            "    get = groups.get",
            f"    for r{', t' if stamped else ''} in rows:",
            *_indent(body, 2),
        ]
    )


def totals(aggregation: Aggregation, *, changelog: bool) -> str:
    """Return the code of a function that adds all rows of one group to its state, or takes them back."""
    body: Iterable[str] = [line[4:] for line in aggregation.add]
    if changelog:
        body = [f"if not {RETRACTS}:", *aggregation.add, "elif a[0]:", *aggregation.remove]
    return "\n".join(["def total(rows, a):", "    for r in rows:", *_indent(body, 2)])


def merged_totals(aggregation: Aggregation, keys: int) -> str:
    """Return the code of the same function, where a record may be a key and the state of several rows of its group.

    Without a key, each record is such a state, perhaps with a kind of change, which is ignored.
    """
    body = ["merge(a, r[0])"] if not keys else ["if type(r[-1]) is list: merge(a, r[-1])", "else:", *aggregation.add]
    return "\n".join(["def total(rows, a):", "    for r in rows:", *_indent(body, 2)])


def _indent(lines: Iterable[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]
