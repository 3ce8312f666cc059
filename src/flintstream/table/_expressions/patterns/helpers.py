"""LIKE, SIMILAR TO and regular expressions, for generated code; see :mod:`flintstream.table._expressions.helpers`.

Patterns may come from records, so the number of those that are kept is limited.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from flintstream.table._expressions.patterns.java import translate_pattern
from flintstream.table._expressions.patterns.linear import linear
from flintstream.table._expressions.patterns.look_behinds import varies, with_fixed_length
from flintstream.table._expressions.text_helpers import LONGEST, checked
from flintstream.table._types.java_maps import hash_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table._expressions.patterns.linear import Linear

_KEPT = 512
"""The patterns of each kind that a process keeps at most."""

Find = tuple[int, "Callable[[str, int, int], int]"]
"""The length of a part of a LIKE pattern, and what finds it between two places of a text; -1 if it is not there."""


@lru_cache(_KEPT)
def like(pattern: str, escape: str | None = None) -> Callable[[str], bool]:
    """Return the function that tells whether a text is like a pattern.

    Each part between two ``%`` is taken where it comes first. No later place could match more, so there is nothing to
    try again, and the time grows with the length of the text.

    >>> like("%b_d%")("abcde"), like("%a%a%b")("aaaa")
    (True, False)
    """
    parts = _like_parts(pattern, escape)
    if len(parts) == 1:
        return _whole(parts[0])
    first, *middle, last = parts
    middle = [part for part in middle if part]
    if any(None in part for part in parts):
        return _in_order([_finder(part) for part in (first, *middle, last)])
    start, end, inner = "".join(first), "".join(last), ["".join(part) for part in middle]  # type: ignore[arg-type]
    if not inner and not (start and end):
        return (lambda text: text.endswith(end)) if end else lambda text: text.startswith(start)
    if len(inner) == 1 and not start and not end:
        part = inner[0]
        return lambda text: part in text
    before, after = len(start), len(end)

    def matches(text: str) -> bool:
        at, limit = before, len(text) - after
        if at > limit or not text.startswith(start) or not text.endswith(end):
            return False
        for part in inner:
            at = text.find(part, at, limit)
            if at < 0:
                return False
            at += len(part)
        return True

    return matches


def _like_parts(pattern: str, escape: str | None) -> list[list[str | None]]:
    """Return the characters between each two ``%``; None is ``_``, which is any character."""
    parts: list[list[str | None]] = [[]]
    i = 0
    while i < len(pattern):
        char = pattern[i]
        if char == escape and i + 1 < len(pattern):
            i += 1
            parts[-1].append(pattern[i])
        elif char == "%":
            parts.append([])
        else:
            parts[-1].append(None if char == "_" else char)
        i += 1
    return parts


def _whole(part: list[str | None]) -> Callable[[str], bool]:
    if None in part:
        match = re.compile(_fix_widths(part), re.DOTALL).fullmatch
        return lambda text: match(text) is not None
    wanted = "".join(part)  # type: ignore[arg-type]
    return lambda text: text == wanted


def _fix_widths(part: list[str | None]) -> str:
    """Return the regular expression of a part, whose length never varies."""
    return "".join("." if char is None else re.escape(char) for char in part)


def _finder(part: list[str | None]) -> Find:
    if None not in part:
        literal = "".join(part)  # type: ignore[arg-type]
        return len(literal), lambda text, at, limit: text.find(literal, at, limit)
    search = re.compile(_fix_widths(part), re.DOTALL).search

    def find(text: str, at: int, limit: int) -> int:
        found = search(text, at, limit)
        return -1 if found is None else found.start()

    return len(part), find


def _in_order(finders: list[Find]) -> Callable[[str], bool]:
    (before, starts), *inner, (after, ends) = finders

    def matches(text: str) -> bool:
        at, limit = before, len(text) - after
        if at > limit or starts(text, 0, at) != 0 or ends(text, limit, len(text)) != limit:
            return False
        for length, find in inner:
            at = find(text, at, limit)
            if at < 0:
                return False
            at += length
        return True

    return matches


_SIMILAR = {"%": "(?s:.*)", "_": "(?s:.)", "\\": "\\\\", "$": "\\$"}
_NAMED = re.compile(r"\[:(alpha|lower|upper|digit|alnum):\]", re.IGNORECASE)


@lru_cache(_KEPT)
def similar(pattern: str) -> Callable[[str], bool]:
    """Return the function that tells whether a text is similar to a pattern.

    Raises:
        ValueError: The pattern cannot be read.
    """
    named = _NAMED.sub(lambda found: f"\\p{{{found[1].capitalize()}}}", pattern)
    parts, inside = [], False
    for char in named:
        inside = (inside or char == "[") and char != "]"
        parts.append(char if inside else _SIMILAR.get(char, char))
    text = "".join(parts)
    if named != pattern:
        text = text.replace("\\\\p{", "\\p{")
    match = checked_regex(text).fullmatch
    return lambda value: match(value) is not None


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error:
        if not varies(pattern):
            raise
    try:
        return re.compile(with_fixed_length(pattern))
    except re.error:
        return _NEVER


_NEVER = re.compile("(?!).")  # not the same object as any translated pattern


@lru_cache(_KEPT)
def checked_regex(pattern: str) -> re.Pattern[str] | Linear:
    """Return a compiled pattern of Java's.

    Raises:
        ValueError: It cannot be read.
    """
    try:
        compiled = _compile(translate_pattern(pattern))
        return compiled if compiled is _NEVER else linear(compiled)
    except re.error as error:
        raise ValueError(f"the regular expression {pattern[:100]!r} cannot be read: {error}") from error
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"the regular expression {pattern[:100]!r} is too large") from error


_PLAIN = re.compile(r"[^\\\[\](){}.*+?^$|]+")


def parts_between(text: str, separator: str, most: int = 0) -> list[str]:
    """Split like Java's ``String.split``: at a regular expression; empty parts at the end are left out.

    Args:
        text: The text.
        separator: The regular expression.
        most: The number of parts, all of which are kept then; 0 for any number.
    """
    if _PLAIN.fullmatch(separator):
        parts = text.split(separator, most - 1)
    else:
        parts, at = [], 0
        for found in checked_regex(separator).finditer(text):
            if most and len(parts) == most - 1:
                break
            if found.end():
                parts.append(text[at : found.start()])
                at = found.end()
        parts.append(text[at:])
    while not most and parts and not parts[-1]:
        parts.pop()
    return parts


def str_to_map(text: str, pairs: str = ",", between: str = "=") -> dict[str, str | None]:
    """Return the map of a text such as ``a=1,b=2``, in the order of a HashMap; a key without separator has no value."""
    found: dict[str, str | None] = {}
    for part in parts_between(text, pairs) if text else []:
        key, *values = parts_between(part, between, 2)
        found[key] = values[0] if values else None
    return {key: found[key] for key in hash_order(found)} if len(found) > 1 else found


@lru_cache(_KEPT)
def regex(pattern: str) -> re.Pattern[str] | Linear | None:
    """Return a compiled pattern of Java's; None if it is none, or looks behind in a way that Python cannot."""
    try:
        found = checked_regex(pattern)
    except ValueError:
        return None
    return None if found is _NEVER else found


def regexp(text: str, pattern: str) -> bool:
    """Return whether a part of the text matches; a wrong pattern never does."""
    found = regex(pattern) if pattern else None
    return found is not None and found.search(text) is not None


def regexp_count(text: str, pattern: str) -> int | None:
    """Return how often a pattern matches."""
    found = regex(pattern)
    return None if found is None else sum(1 for _ in found.finditer(text))


def regexp_instr(text: str, pattern: str) -> int | None:
    """Return where the first match begins, counted from 1; 0 if there is none."""
    compiled = regex(pattern)
    found = None if compiled is None else compiled.search(text)
    return None if compiled is None else 0 if found is None else found.start() + 1


def regexp_extract_all(text: str, pattern: str, group: int = 1) -> list[str | None] | None:
    """Return a group of every match."""
    found = regex(pattern)
    if found is None or not 0 <= group <= found.groups:
        return None
    return [match.group(group) for match in found.finditer(text)]


def regexp_extract(text: str, pattern: str, group: int = 0) -> str | None:
    """Return a group of the first match."""
    compiled = regex(pattern)
    found = None if compiled is None or not 0 <= group <= compiled.groups else compiled.search(text)
    return None if found is None else found.group(group)


def regexp_replace(text: str, pattern: str, replacement: str) -> str | None:
    """Replace all matches by a text, in which nothing stands for a group."""
    found = regex(pattern)
    if found is None:
        return None
    if (len(text) + 1) * len(replacement) > LONGEST:
        checked(sum(1 for _ in found.finditer(text)) * len(replacement), "REGEXP_REPLACE")
    return found.sub(lambda _: replacement, text)
