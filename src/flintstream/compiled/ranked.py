# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""The loops of the first rows of each key in an order, and of the newest one; ``_ranked.pxd`` has their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.compiled.base import leave_alone, lookup, select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Row: TypeAlias = tuple[object, ...]
    Column: TypeAlias = "tuple[int, bool, bool, Callable[[object], object] | None]"
    """A column of an order: its position, whether it is descending, whether None comes first, and what values are
    compared by."""

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3
"""Kinds of changes, as rows of tables end with them."""


def extend(row: Row, first: int | None, second: int | None) -> Row:
    """Return a row with two more values."""
    tail = (first, second)
    made = row + tail
    leave_alone(made, row, None)
    return made


def keep_last(
    rows: Iterator[Row],
    times: list[int] | None,
    selector: Callable[[Row], object],
    field: int,
    values: dict[object, Row],
    dirty: dict[object, int] | None,
    time: int,
    number: int | None,
    results: list[Row],
    stamps: list[int],
) -> None:
    """Keep the newest row of each key, and append what changes with each row, with its time (ms).

    ``time`` is the position of the column that tells which is newer, -1 for the order of arrival. Results end with
    ``number`` and the kind of change. ``dirty`` gets the keys whose row has changed, if that is recorded.
    """
    position = 0
    for row in rows:
        key = select(selector, field, row)
        old = lookup(values, key)
        if old is None:
            results.append(extend(row, number, INSERT))
        elif time < 0 or not is_before(row[time], old[time]):
            if number is None or old != row:
                results.append(extend(old, number, UPDATE_BEFORE))
                results.append(extend(row, number, UPDATE_AFTER))
        else:
            position += 1
            continue
        values[key] = row
        if dirty is not None:
            dirty[key] = 0
        if times is not None:
            while len(stamps) < len(results):
                stamps.append(times[position])
        position += 1


def is_before(one: object, other: object) -> bool:
    """Tell whether a time is before another one; one that is missing is before all others."""
    return other is not None and (one is None or one < other)  # type: ignore[operator]


def precedes(one: Row, other: Row, order: list[Column]) -> bool:
    """Tell whether a row comes before another one, and is not equal in the columns of the order."""
    for index, descending, none_first, key in order:
        mine = one[index]
        yours = other[index]
        if mine is None or yours is None:
            if mine is yours:
                continue
            return (mine is None) == none_first
        if key is not None:
            mine = key(mine)
            yours = key(yours)
        if descending:
            if mine == yours:
                continue
            return bool(yours < mine)  # type: ignore[operator]
        if mine is yours or mine == yours:
            continue
        return bool(mine < yours)  # type: ignore[operator]
    return False


def place_of(rows: list[Row], row: Row, order: list[Column], newest: bool) -> int:
    """Return where a row comes among sorted ones: before its equals if the ``newest`` one is the first, else after."""
    low = 0
    high = len(rows)
    while low < high:
        middle = (low + high) // 2
        if not precedes(rows[middle], row, order) if newest else precedes(row, rows[middle], order):
            high = middle
        else:
            low = middle + 1
    return low


def result(row: Row, number: int | None, kind: int, changes: bool) -> Row:
    """Return a row with its number, and its kind if results are changes."""
    return extend(row, number, kind) if changes else (*row, number)


def keep_first(
    rows: Iterator[Row],
    times: list[int] | None,
    selector: Callable[[Row], object],
    field: int,
    values: dict[object, list[Row]],
    dirty: dict[object, int] | None,
    order: list[Column],
    newest: bool,
    start: int,
    end: int,
    numbered: bool,
    changes: bool,
    results: list[Row],
    stamps: list[int],
) -> None:
    """Keep the first rows of each key, up to ``end`` of them, and append what changes of those from ``start`` on.

    ``newest`` says that of equal rows the one that came last is the first, ``numbered`` that results have the number of
    a row, and ``changes`` that they end with a kind of change. The other arguments are those of :func:`keep_last`.
    """
    position = -1
    for row in rows:
        position += 1
        key = select(selector, field, row)
        old = lookup(values, key)
        if old is None:
            old = []
        size = len(old)
        if size >= end and precedes(old[size - 1], row, order):
            continue
        place = place_of(old, row, order, newest)
        if place >= end:
            continue
        new = old[:]
        new.insert(place, row)
        if size >= end:
            del new[end:]
        values[key] = new
        if dirty is not None:
            dirty[key] = 0
        if numbered:
            change_numbers(old, new, place, start, end, changes, results)
        else:
            change_members(old, new, place, start, end, changes, results)
        if times is not None:
            while len(stamps) < len(results):
                stamps.append(times[position])


def change_numbers(
    old: list[Row], new: list[Row], place: int, start: int, end: int, changes: bool, results: list[Row]
) -> None:
    """Append the changes of all rows whose number changes."""
    size = len(old)
    now = len(new)
    i = max(place, start)
    while i < end and i < size and i < now:
        one = old[i]
        other = new[i]
        if one != other:
            results.append(result(one, i + 1, UPDATE_BEFORE, changes))
            results.append(result(other, i + 1, UPDATE_AFTER, changes))
        i += 1
    if now > size:
        while i < end and i < now:
            results.append(result(new[i], i + 1, INSERT, changes))
            i += 1
    else:
        while i < end and i < size:
            results.append(result(old[i], i + 1, DELETE, changes))
            i += 1


def change_members(
    old: list[Row], new: list[Row], place: int, start: int, end: int, changes: bool, results: list[Row]
) -> None:
    """Append the changes of rows that come in or fall out."""
    place = max(place, start)
    size = len(old)
    came = place < len(new)
    if size >= end:
        single = end - start == 1 and came
        results.append(result(old[end - 1], None, UPDATE_BEFORE if single else DELETE, changes))
        if came:
            results.append(result(new[place], None, UPDATE_AFTER if single else INSERT, changes))
    elif came:
        results.append(result(new[place], None, INSERT, changes))
