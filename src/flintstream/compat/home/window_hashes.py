"""Helpers of ``pyflink.datastream.window`` for hashing custom window classes."""

from __future__ import annotations

__all__ = ["long_to_int_with_bit_mixing", "mod_inverse"]

_ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def mod_inverse(x: int) -> int:
    """Return the inverse of an odd number modulo 2**64.

    >>> mod_inverse(7) * 7 % 2**64
    1

    Raises:
        ValueError: The number is even.
    """
    return pow(x, -1, 1 << 64)


def long_to_int_with_bit_mixing(x: int) -> int:
    """Return a number whose low bits depend on all bits of ``x``: the last step of SplitMix64, without truncation.

    >>> long_to_int_with_bit_mixing(1) % 2**32 != long_to_int_with_bit_mixing(2**40) % 2**32
    True
    """
    for shift, factor in _ROUNDS:
        x = (x ^ (x >> shift)) * factor
    return x
