"""The identity of a job."""

from __future__ import annotations

import uuid

__all__ = ["JobID"]


class JobID:
    """128 random bits, written as 32 hexadecimal digits.

    >>> JobID("00112233445566778899aabbccddeeff")
    JobID('00112233445566778899aabbccddeeff')
    """

    __slots__ = ("_hex",)

    def __init__(self, hex_digits: str | None = None) -> None:
        self._hex = uuid.uuid4().hex if hex_digits is None else hex_digits.lower()
        if len(self._hex) != 32 or set(self._hex) - set("0123456789abcdef"):
            raise ValueError(f"a job id must have 32 hexadecimal digits, but got {hex_digits!r}")

    def __eq__(self, other: object) -> bool:
        return self._hex == other._hex if isinstance(other, JobID) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._hex)

    def __str__(self) -> str:
        return self._hex

    def __repr__(self) -> str:
        return f"JobID('{self._hex}')"
