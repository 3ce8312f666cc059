# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""The loop of a join that keeps the rows of both sides and emits pairs; ``_joined.pxd`` has the types of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.compiled.base import leave_alone, lookup, select
from flintstream.compiled.state import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Row: TypeAlias = tuple[object, ...]
    Rows: TypeAlias = dict[object, dict[object, tuple[Row, int, int]]]
    """For each key, the rows of a side: each with how often it is there, and how many partners it has."""


def join_each(
    rows: Iterator[Row],
    times: list[int] | None,
    selector: Callable[[Row], object],
    field: int,
    several: bool,
    mine: Rows | None,
    others: Rows,
    noted: dict[object, object] | None,
    holds: Callable[[Row], object] | None,
    first: bool,
    freeze: Callable[[Row], object],
    results: list[Row],
    stamps: list[int],
) -> None:
    """Keep each row of a side, and append its pairs with the rows of the other side, with its time (ms).

    None in a key equals nothing; ``several`` says that keys are tuples. ``noted`` gets what changed, if changes are
    recorded; see :func:`flintstream.compiled.state.note`. ``first`` says that this is the left side, ``holds`` what
    must be True of a pair, and ``freeze`` makes a row with lists a key of a dictionary. ``mine`` is None if no row
    of the other side will come, so that none of this side is kept.
    """
    position = 0
    for row in rows:
        key = select(selector, field, row)
        if key is not None and not (several and None in key):
            partners = 0
            entries = lookup(others, key)
            if entries:
                for entry in entries.values():
                    other = entry[0]
                    pair = row + other if first else other + row
                    leave_alone(pair, row, other)
                    if holds is not None and holds(pair) is not True:
                        continue
                    count = entry[1]
                    partners += count
                    for _ in range(count):
                        results.append(pair)
                        if times is not None:
                            stamps.append(times[position])
            if mine is None:
                position += 1
                continue
            place: object = row
            found: tuple[object, int, int] = (row, 1, partners)
            leave_alone(found, row, row)
            own = lookup(mine, key)
            if own is None:
                own = mine[key] = {}
            try:
                known = own.setdefault(place, found)
            except TypeError:  # the row has a list
                place = freeze(row)
                known = own.setdefault(place, found)
            if known is not found:
                own[place] = (row, known[1] + 1, known[2])
            if noted is not None:
                note(noted, key, place, 0)
        position += 1
