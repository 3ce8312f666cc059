"""Sets of integers of 32 bits, of the type BITMAP, and their bytes in the portable format of Roaring bitmaps.

The format is that of https://github.com/RoaringBitmap/RoaringFormatSpec: containers by the upper 16 bits, each an
array, 8,192 bytes of bits, or runs.
"""

from __future__ import annotations

import struct
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WITHOUT_RUNS, _WITH_RUNS = 12346, 12347
_SPARSE = 4096
"""The most values of an array."""
_BITS = 8192
"""The bytes of a container of bits."""
_OFFSETS = 4
"""From so many containers on, those with runs have offsets."""
_LONGEST = 0x80000
"""The length at which a text of numbers is cut."""
_ALL = 0xFFFFFFFF
_MOST = 50_000_000
"""Members that are read: a few bytes of runs may stand for billions, and each takes memory here."""


class Bitmap:
    """A set of integers, which are unsigned in it.

    >>> bitmap = bitmap_of([5, -1, 3, 5])
    >>> bitmap, bitmap_to_array(bitmap)
    ({3,5,4294967295}, [3, 5, -1])
    >>> bitmap_from_bytes(bitmap_to_bytes(bitmap)) == bitmap
    True
    """

    __slots__ = ("values",)

    def __init__(self, values: tuple[int, ...]) -> None:
        """Take unsigned integers in their order."""
        self.values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bitmap) and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.values)

    def __reduce__(self) -> tuple[object, ...]:
        return _of_array, (struct.pack(f"<{len(self.values)}I", *self.values),)

    def __str__(self) -> str:
        text = ",".join(map(str, self.values))
        if len(text) <= _LONGEST:
            return f"{{{text}}}"
        kept: list[str] = []
        length = 1
        for value in self.values:
            kept.append(str(value))
            length += len(kept[-1]) + 1
            if length > _LONGEST:
                break
        return f"{{{','.join(kept)},...}}"

    __repr__ = __str__


def _of_array(values: bytes) -> Bitmap:
    return Bitmap(struct.unpack(f"<{len(values) // 4}I", values))


def bitmap_of(values: Iterable[int | None]) -> Bitmap:
    """Return the set of integers of 32 bits; None does not count."""
    return Bitmap(tuple(sorted({value & _ALL for value in values if value is not None})))


def bitmap_from_set(values: Iterable[int]) -> Bitmap:
    """Return the set of unsigned integers."""
    return Bitmap(tuple(sorted(values)))


def bitmap_and(a: Bitmap, b: Bitmap) -> Bitmap:
    """Return what is in both."""
    return bitmap_from_set({*a.values}.intersection(b.values))


def bitmap_or(a: Bitmap, b: Bitmap) -> Bitmap:
    """Return what is in one of them."""
    return bitmap_from_set({*a.values, *b.values})


def bitmap_xor(a: Bitmap, b: Bitmap) -> Bitmap:
    """Return what is in one of them only."""
    return bitmap_from_set({*a.values}.symmetric_difference(b.values))


def bitmap_andnot(a: Bitmap, b: Bitmap) -> Bitmap:
    """Return what is in the first one only."""
    return bitmap_from_set({*a.values}.difference(b.values))


def bitmap_to_array(bitmap: Bitmap) -> list[int]:
    """Return the integers, in the order of unsigned ones."""
    return [value - (value >> 31 << 32) for value in bitmap.values]


def bitmap_to_bytes(bitmap: Bitmap) -> bytes:
    """Return the bytes of a set; a container has runs where they are shortest."""
    containers = [
        (high, [value & 0xFFFF for value in part]) for high, part in groupby(bitmap.values, lambda value: value >> 16)
    ]
    runs = [_shorter_runs(lows) for _, lows in containers]
    parts = [_pack(lows, found) for (_, lows), found in zip(containers, runs, strict=True)]
    heads = b"".join(struct.pack("<HH", high, len(lows) - 1) for high, lows in containers)
    if any(runs):
        flags = sum(bool(found) << i for i, found in enumerate(runs))
        start = struct.pack("<I", _WITH_RUNS | len(containers) - 1 << 16)
        start += flags.to_bytes((len(containers) + 7) // 8, "little")
    else:
        start = struct.pack("<II", _WITHOUT_RUNS, len(containers))
    offsets = b""
    if not any(runs) or len(containers) >= _OFFSETS:
        at = len(start) + len(heads) + 4 * len(containers)
        for part in parts:
            offsets += struct.pack("<I", at)
            at += len(part)
    return start + heads + offsets + b"".join(parts)


def _shorter_runs(lows: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs of a container, each a start and a length less 1, if they are shorter than its other form."""
    found: list[tuple[int, int]] = []
    for _, part in groupby(enumerate(lows), lambda pair: pair[1] - pair[0]):
        values = [value for _, value in part]
        found.append((values[0], len(values) - 1))
    other = 2 * len(lows) if len(lows) <= _SPARSE else _BITS
    return found if 2 + 4 * len(found) < other else []


def _pack(lows: Sequence[int], runs: Sequence[tuple[int, int]]) -> bytes:
    if runs:
        return struct.pack("<H", len(runs)) + b"".join(struct.pack("<HH", *run) for run in runs)
    if len(lows) <= _SPARSE:
        return struct.pack(f"<{len(lows)}H", *lows)
    bits = bytearray(_BITS)
    for low in lows:
        bits[low >> 3] |= 1 << (low & 7)
    return bytes(bits)


def bitmap_from_bytes(data: bytes) -> Bitmap:
    """Return the set of its bytes.

    Raises:
        ValueError: They are not those of a set.
    """
    try:
        return _Reader(bytes(data)).bitmap()
    except (struct.error, IndexError, ValueError):
        raise ValueError("Failed to deserialize bitmap from bytes.") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def numbers(self, kind: str, count: int) -> tuple[int, ...]:
        size = struct.calcsize(f"<{kind}") * count
        found = struct.unpack_from(f"<{count}{kind}", self.data, self.position)
        self.position += size
        return found

    def bitmap(self) -> Bitmap:
        (cookie,) = self.numbers("I", 1)
        flags = 0
        with_runs = cookie & 0xFFFF == _WITH_RUNS
        if with_runs:
            count = (cookie >> 16) + 1
            flags = int.from_bytes(bytes(self.numbers("B", (count + 7) // 8)), "little")
        elif cookie == _WITHOUT_RUNS:
            (count,) = self.numbers("I", 1)
        else:
            raise ValueError("no such format")
        if count > 1 << 16:
            raise ValueError("too many containers")
        heads = self.numbers("H", 2 * count)
        if not with_runs or count >= _OFFSETS:
            self.numbers("I", count)
        values: list[int] = []
        for i, (high, size) in enumerate(zip(heads[::2], heads[1::2], strict=True)):
            if len(values) > _MOST:
                raise OverflowError(f"BITMAP_FROM_BYTES: a bitmap has at most {_MOST:,} members here")
            values += [high << 16 | low for low in self.container(size + 1, runs=bool(flags >> i & 1))]
        if any(a >= b for a, b in pairwise(values)):
            raise ValueError("the values are not in order")
        return Bitmap(tuple(values))

    def container(self, size: int, *, runs: bool) -> Sequence[int]:
        if runs:
            (count,) = self.numbers("H", 1)
            pairs = self.numbers("H", 2 * count)
            lows: list[int] = []
            for start, more in zip(pairs[::2], pairs[1::2], strict=True):
                if start + more >> 16:
                    raise ValueError("a run leaves its container")
                lows += range(start, start + more + 1)
            return lows
        if size <= _SPARSE:
            return self.numbers("H", size)
        bits = self.numbers("B", _BITS)
        return [i << 3 | bit for i, byte in enumerate(bits) if byte for bit in range(8) if byte >> bit & 1]
