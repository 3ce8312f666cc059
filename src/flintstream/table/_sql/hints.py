"""Options of a table within a query: ``FROM orders /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HINT = re.compile(r"\s*OPTIONS\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
_PAIR = re.compile(r"'((?:[^']|'')*)'\s*=\s*'((?:[^']|'')*)'")


def hinted_options(comments: Sequence[str] | None) -> dict[str, str]:
    """Return the options in the comments after a table, which is how sqlglot gives hints.

    >>> hinted_options([" OPTIONS('a' = '1', 'b' = 'it''s') "])
    {'a': '1', 'b': "it's"}
    """
    found: dict[str, str] = {}
    for comment in comments or ():
        hint = _HINT.fullmatch(comment)
        for key, value in _PAIR.findall(hint[1]) if hint is not None else ():
            found[key.replace("''", "'")] = value.replace("''", "'")
    return found
