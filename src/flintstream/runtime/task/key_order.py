"""The order in which BATCH mode processes the keys of a subtask, and the records of a key.

Flink sorts keys by their serialized bytes, so that a program on small data prints the same in every run. This module
sorts them the same way if there are few enough.
"""

from __future__ import annotations

import pickle
import struct
from typing import TYPE_CHECKING, Any

from flintstream.runtime.keys import thaw_key

if TYPE_CHECKING:
    from collections.abc import Iterable

SORTED_BYTES = 4 << 20
"""With more bytes of records than this, a subtask processes its keys range by range."""

SORTED_KEYS = 10_000
"""With more keys than this, sorting would take noticeable time."""

TURNS = 256
"""After this many records of a key, inputs stop taking turns: at equal timestamps, the first input comes first."""

_SIGNED = bytes(byte ^ 0x80 for byte in range(256))
"""Flink compares bytes as signed numbers."""


def sorted_keys(keys: Iterable[Any], *, typed: bool) -> list[Any]:
    """Return keys in Flink's order if they are few; ``typed`` tells whether the program declares a key type.

    >>> sorted_keys(["to", "not", "be", "a"], typed=False)
    ['a', 'be', 'to', 'not']
    """
    kept = list(keys)
    if len(kept) > SORTED_KEYS:
        return kept
    serialize = _serialize if typed else _pickle
    try:
        return sorted(kept, key=lambda key: serialize(key).translate(_SIGNED))
    except Exception:  # noqa: BLE001 - a key cannot be pickled: any order will do
        return kept


def merge_positions(stamps: list[int], numbers: list[int], last: int) -> list[int]:
    """Return the positions of a key's records ordered by timestamp; at equal timestamps, two inputs take turns.

    Args:
        stamps: the timestamp (ms) of each record.
        numbers: which input it comes from, 0 or 1.
        last: the input that was read last.

    >>> merge_positions([5, 5, 5, 5], [0, 0, 0, 1], 1)
    [0, 3, 1, 2]
    """
    first, second = (
        sorted([i for i, number in enumerate(numbers) if number == side], key=stamps.__getitem__) for side in (0, 1)
    )
    order: list[int] = []
    taken = [0, 0]
    while taken[0] < len(first) and taken[1] < len(second):
        one, other = first[taken[0]], second[taken[1]]
        if stamps[one] != stamps[other]:
            last = int(stamps[other] < stamps[one])
        else:
            last = 1 - last if len(order) < TURNS else 0
        order.append(other if last else one)
        taken[last] += 1
    return order + first[taken[0] :] + second[taken[1] :]


def _pickle(key: Any) -> bytes:
    data = pickle.dumps(thaw_key(key), 4)
    return len(data).to_bytes(4, "big") + data


def _serialize(key: Any) -> bytes:
    cls = type(key)
    if cls is int and -(1 << 63) <= key < 1 << 63:
        return key.to_bytes(8, "big", signed=True)  # type: ignore[no-any-return]
    if cls is str:
        return _text(key)
    if cls is float:
        return struct.pack(">d", key)
    if cls is tuple:
        return b"".join(map(_serialize, key))
    return _pickle(key)


def _text(text: str) -> bytes:
    units = [len(text) + 1, *map(ord, text)]
    return b"".join(map(_unit, units))


def _unit(number: int) -> bytes:
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)
