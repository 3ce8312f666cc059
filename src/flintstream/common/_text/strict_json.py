"""The JSON that leaves a process: replies, records, events and what commands print.

A name, an error or a gauge of a program may be anything. Every reader must still be able to read what contains it, so
all of these texts come from :func:`json_text`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from flintstream.errors import encodable, shorten

__all__ = ["json_text"]

_LARGEST = 10**19
"""Integers from here on, and from the same negative one down, become strings: many readers stop at 64 bits."""
_DECIMAL_BITS, _HEXADECIMAL_BITS = 2_000, 1 << 16
"""Python writes at least 640 decimal digits, whatever its limit is, and any number of hexadecimal ones."""
_DEEPEST = 100
_LONGEST_TEXT = 1_000
_DOUBTFUL = re.compile("[0-9]{20}|\\\\ud[89a-f]|[\ud800-\udfff]")
"""What may be a large integer or half of a surrogate pair in a text that Python's own writer makes."""


def json_text(value: object, *, indent: int | None = None, ascii_only: bool = True) -> str:
    r"""Return a value as JSON that every reader takes. Never raises because of what the value contains.

    Half of a surrogate pair becomes U+FFFD, NaN and infinity become null, integers of more than 19 digits become
    strings. Keys become strings. Objects that have no form in JSON become their ``repr``, cut to 1,000 characters, and
    so does what is nested too deeply.

    Args:
        value: what to write.
        indent: spaces for each level; None for a single line.
        ascii_only: whether other characters are escaped, for streams that are not UTF-8.

    >>> json_text({"name": "a\ud800", "gauges": [float("nan"), 10**20], 1: {2}})
    '{"name": "a\\ufffd", "gauges": [null, "100000000000000000000"], "1": "{2}"}'
    """
    try:
        text = _write(value, indent, ascii_only)
    except Exception:  # noqa: BLE001 - Python's writer is fast, and refuses many kinds of values in many ways
        text = None
    if text is None or _DOUBTFUL.search(text):
        text = _write(_plain(value, 0), indent, ascii_only)
    return text


def _write(value: object, indent: int | None, ascii_only: bool) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=ascii_only, allow_nan=False)


def _plain(value: Any, depth: int) -> Any:
    # By the type and with the methods of the built-in classes: subclasses may do anything in theirs.
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return encodable(str.__str__(value))
    if issubclass(kind, int):
        number = int.__index__(value)
        return number if -_LARGEST < number < _LARGEST else _digits(number)
    if issubclass(kind, float):
        real = float.__float__(value)
        return real if real - real == 0 else None
    if depth < _DEEPEST:
        if issubclass(kind, dict):
            return {_key(key): _plain(item, depth + 1) for key, item in list(dict.items(value))}
        if issubclass(kind, list):
            return [_plain(item, depth + 1) for item in list.copy(value)]
        if issubclass(kind, tuple):
            return [_plain(item, depth + 1) for item in tuple.__iter__(value)]
    return encodable(shorten(value, _LONGEST_TEXT))


def _key(key: object) -> str:
    plain = _plain(key, _DEEPEST)
    if isinstance(plain, str):
        return plain
    return json.dumps(plain) if plain is not None or key is None else shorten(key)  # the latter is NaN or infinity


def _digits(number: int) -> str:
    bits = number.bit_length()
    if bits <= _DECIMAL_BITS:
        return str(number)
    return hex(number) if bits <= _HEXADECIMAL_BITS else f"an integer of {bits:,} bits"
