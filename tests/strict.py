"""A reader of JSON that refuses whatever some reader refuses."""

from __future__ import annotations

import json
from typing import Any

LONGEST_INTEGER = 19


def read_strictly(data: str | bytes) -> Any:
    """Return what a text says.

    Raises:
        ValueError: It has NaN, a number that does not fit, half of a surrogate pair or a name twice, or is no JSON.
    """
    text = data.decode() if isinstance(data, bytes) else data
    value = json.loads(text, parse_constant=_refuse, parse_int=_integer, object_pairs_hook=_object)
    text.encode()
    json.dumps(value, ensure_ascii=False).encode()  # what escapes stand for
    return value


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > LONGEST_INTEGER:
        raise ValueError(f"{text[:40]} has {len(text)} digits")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)
