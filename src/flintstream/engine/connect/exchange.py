"""Numbers that Spark's hash partitioning puts into known partitions.

``repartition(n, "key")`` sends a row to partition ``hash(key) mod n``, with a hash that has been the same since
Spark 1.6 and is part of its file layout (bucketed tables). So each target needs one key that meets it. Spark 4.1
has ``repartitionById``, for which the key is the target.
"""

from __future__ import annotations

from functools import cache
from itertools import count

__all__ = ["keys_of_partitions", "spark_hash"]

_SEED = 42
_WORD = 0xFFFFFFFF


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _WORD


def spark_hash(number: int) -> int:
    """Return what Spark's ``hash`` returns for a 32-bit integer: Murmur3 of its bytes with the seed 42.

    >>> spark_hash(0), spark_hash(1)
    (933211791, -559580957)
    """
    mixed = _rotate((number & _WORD) * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    value = (_rotate(_SEED ^ mixed, 13) * 5 + 0xE6546B64 & _WORD) ^ 4
    value = (value ^ value >> 16) * 0x85EBCA6B & _WORD
    value = (value ^ value >> 13) * 0xC2B2AE35 & _WORD
    value ^= value >> 16
    return value - (1 << 32) if value >> 31 else value


@cache
def keys_of_partitions(partitions: int) -> tuple[int, ...]:
    """Return, for each of so many partitions, the smallest number that Spark's hash partitioning puts there.

    >>> [spark_hash(key) % 3 for key in keys_of_partitions(3)]
    [0, 1, 2]
    """
    found: dict[int, int] = {}
    numbers = count()
    while len(found) < partitions:
        key = next(numbers)
        found.setdefault(spark_hash(key) % partitions, key)
    return tuple(found[partition] for partition in range(partitions))
