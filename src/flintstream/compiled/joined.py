# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""The loop of a join that keeps the rows of both sides and emits pairs; ``_joined.pxd`` has the types of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.compiled.base import lookup, select

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
    mine: Rows,
    others: Rows,
    dirty: dict[object, int] | None,
    holds: Callable[[Row], object] | None,
    first: bool,
    freeze: Callable[[Row], object],
    results: list[Row],
    stamps: list[int],
) -> None:
    """Keep each row of a side, and append its pairs with the rows of the other side, with its time (ms).

    None in a key equals nothing; ``several`` says that keys are tuples. ``dirty`` gets the places of what changed, if
    changes are recorded. ``first`` says that this is the left side, ``holds`` what must be True of a pair, and
    ``freeze`` makes a row with lists a key of a dictionary.
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
                    if holds is not None and holds(pair) is not True:
                        continue
                    count = entry[1]
                    partners += count
                    for _ in range(count):
                        results.append(pair)
                        if times is not None:
                            stamps.append(times[position])
            place: object = row
            try:
                hash(row)
            except TypeError:
                place = freeze(row)
            entries = lookup(mine, key)
            if entries is None:
                mine[key] = {place: (row, 1, partners)}
            else:
                known = lookup(entries, place)
                entries[place] = (row, 1, partners) if known is None else (row, known[1] + 1, known[2])
            if dirty is not None:
                dirty[key, place] = 0
        position += 1
