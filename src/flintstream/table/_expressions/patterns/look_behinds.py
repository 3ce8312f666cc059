"""Look-behind of varying length, which Java has, by several of a fixed length each, which Python has."""

from __future__ import annotations

import re

from flintstream.table._expressions.patterns.linear import sre

MOST = 1000
"""How many lengths and alternatives a look-behind may have."""

_HEAD = re.compile(r"\(\?<([=!])")
_TIMES = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})([+?]?)")
_PLAIN_GROUP = re.compile(r"\((?:\?:)?(?!\?)")


def varies(pattern: str) -> bool:
    """Return whether a pattern of Python's syntax has a look-behind of varying length, which Python does not compile.

    >>> varies("(?<=a|bc)d"), varies("(?<=ab)c(?=d?)")
    (True, False)

    Raises:
        re.error: The pattern cannot be read.
    """
    return _varies(sre.parse(pattern))


def _varies(part: object) -> bool:
    """Return the same for a part of the tree of Python's own parser."""
    if isinstance(part, sre.SubPattern):
        part = part.data
    if not isinstance(part, (list, tuple)):
        return False
    if part and str(part[0]) in {"ASSERT", "ASSERT_NOT"} and part[1][0] < 0:
        least, most = part[1][1].getwidth()
        if least != most:
            return True
    return any(map(_varies, part))


def with_fixed_length(pattern: str) -> str:
    r"""Return a pattern of Python's syntax whose look-behinds have a fixed length each.

    >>> with_fixed_length("(?<=a|bc{1,2})d"), with_fixed_length("(?<!ab?)c")
    ('(?:(?<=a)|(?<=bc)|(?<=bcc))d', '(?:(?<!a)(?<!ab))c')

    Raises:
        re.error: Java would not take it either, or a group within a look-behind has a number.
    """
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        head = _HEAD.match(pattern, at)
        if head is None:
            end = _end_of_unit(pattern, at) if pattern[at] in "\\[" else at + 1
            parts.append(pattern[at:end])
            at = end
            continue
        end = _end_of_unit(pattern, at)
        inside = pattern[head.end() : end - 1]
        parts.append(_fix(head[1], inside))
        at = end
    return "".join(parts)


def _fix(kind: str, inside: str) -> str:
    whole = f"(?<{kind}{inside})"
    try:
        if not varies(whole):
            return whole
    except re.error:
        return whole  # a reference to what stands elsewhere
    found = [f"(?<{kind}{variant})" for variant in dict.fromkeys(_variants(inside))]
    return f"(?:{('|' if kind == '=' else '').join(found)})"


def _variants(text: str) -> list[str]:
    """Return the sequences of a fixed length each that an expression stands for."""
    found: list[str] = []
    for branch in _branches(text):
        choices: list[list[str]] = []
        at = 0
        while at < len(branch):
            end = _end_of_unit(branch, at)
            unit = branch[at:end]
            times = _TIMES.match(branch, end)
            at = end if times is None else times.end()
            choices.append(_repeat(_of_unit(unit), times))
        found += _sequences(choices)
    return found


def _of_unit(unit: str) -> list[str]:
    if unit[0] != "(":
        return [unit]
    head = _PLAIN_GROUP.match(unit)
    if head is None:
        return [unit]
    if head[0] == "(":
        raise re.error("a group with a number in a look-behind of varying length")
    return _variants(unit[head.end() : -1])


def _repeat(variants: list[str], times: re.Match[str] | None) -> list[str]:
    if times is None:
        return variants
    if times[1] in {"*", "+"} or (times[3] and not times[4]):
        raise re.error("Look-behind group does not have an obvious maximum length")
    least = 0 if times[1] == "?" else int(times[2])
    most = 1 if times[1] == "?" else int(times[4] or times[2])
    if most > MOST:
        raise re.error(f"a look-behind with more than {MOST} lengths")
    return [text for count in range(least, most + 1) for text in _sequences([variants] * count)]


def _sequences(choices: list[list[str]]) -> list[str]:
    """Return all texts with one of each choice after the other."""
    found = [""]
    for choice in choices:
        found = list(dict.fromkeys(first + second for first in found for second in choice))
        if len(found) > MOST:
            raise re.error(f"a look-behind with more than {MOST} lengths and alternatives")
    return found


def _branches(text: str) -> list[str]:
    """Return the alternatives of an expression."""
    found, begin, at = [], 0, 0
    while at < len(text):
        if text[at] == "|":
            found.append(text[begin:at])
            begin = at + 1
        at = at + 1 if text[at] == "|" else _end_of_unit(text, at)
    return [*found, text[begin:]]


def _end_of_unit(text: str, at: int) -> int:
    """Return the end of a character, escape, class or group."""
    if text[at] == "\\":
        return at + {"x": 4, "u": 6, "U": 10}.get(text[at + 1 : at + 2], 2)
    if text[at] == "[":
        at += 2 if text.startswith("[^", at) else 1
        at += text.startswith("]", at)
        while at < len(text) and text[at] != "]":
            at += 2 if text[at] == "\\" else 1
        return at + 1
    if text[at] != "(":
        return at + 1
    at += 1
    while at < len(text) and text[at] != ")":
        at = _end_of_unit(text, at)
    return at + 1
