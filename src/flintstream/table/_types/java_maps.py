"""The order in which Java's ``HashMap`` has its keys, for texts that show one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


def hash_order(keys: Collection[str]) -> list[str]:
    """Return texts in the order of a ``HashMap`` to which they are added one by one.

    >>> hash_order(["a", "b", "zz"])
    ['zz', 'a', 'b']
    """
    size = 16
    while len(keys) > size * 3 // 4:
        size *= 2
    return sorted(keys, key=lambda key: _spread(key) & (size - 1))


def _spread(text: str) -> int:
    found = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        found = (31 * found + int.from_bytes(units[index : index + 2], "big")) & 0xFFFFFFFF
    return found ^ (found >> 16)
