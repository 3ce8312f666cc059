"""The entries of map states that have changed, by the key of their map.

``noted`` has, for each key, either one pair of a map key and its mark, or a dict of them: most keys change one entry
between two snapshots, and a pair takes a quarter of the memory of a dict. The mark of an entry is :data:`FRESH` if it
was not there before, else 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FRESH = -1
"""A change of an entry that was not there before: nothing is left of it when the entry is removed again."""


def note(noted: dict[Any, Any], current: Any, key: Any, mark: int) -> None:
    """Note that an entry has changed. The first mark of an entry stays."""
    marks = noted.get(current)
    if type(marks) is dict:
        marks.setdefault(key, mark)
    elif marks is None:
        noted[current] = (key, mark)
    elif not _is(marks, key):
        noted[current] = {marks[0]: marks[1], key: mark}


def note_removed(noted: dict[Any, Any], current: Any, key: Any) -> None:
    """Note that an entry is gone; forget it if it was fresh."""
    marks = noted.get(current)
    if marks is None:
        noted[current] = (key, 0)
    elif type(marks) is dict:
        if marks.get(key) == FRESH:
            del marks[key]
        else:
            marks[key] = 0
    elif not _is(marks, key):
        noted[current] = {marks[0]: marks[1], key: 0}
    elif marks[1] == FRESH:
        del noted[current]


def changed_rows(noted: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Return the changed entries as pairs of the key and the map key."""
    for current, marks in noted.items():
        for key in marks if type(marks) is dict else marks[:1]:
            yield current, key


def _is(pair: tuple[Any, int], key: Any) -> bool:
    return pair[0] is key or bool(pair[0] == key)
