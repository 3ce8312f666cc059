"""Regular expressions in linear time, for those with which Python's ``re`` would not come to an end.

``(a+)+b`` has exponentially many ways to match a text of ``a``. Java remembers where the body of a repetition has
failed, Python tries everything. Here, no instruction is tried twice at the same place: what follows would be the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

try:
    from re import _parser as sre  # type: ignore[attr-defined,unused-ignore]
except ImportError:  # Python 3.10
    import sre_parse as sre

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Linear", "linear", "sre"]

_LARGEST = 2000
"""The instructions of a program at most; a pattern that takes more stays with ``re``."""
_SAMPLE = [chr(code) for code in (*range(128), 0xE9, 0x3B1, 0x4E00, 0x1F600)]
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
_SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
_WORD = re.compile(r"\w")
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


class _UnsupportedError(Exception):
    """There is no program for a pattern."""


def linear(compiled: re.Pattern[str]) -> re.Pattern[str] | Linear:
    """Return what searches in linear time, if the pattern may take exponential time; else the pattern itself.

    >>> type(linear(re.compile("(a+)+b"))).__name__, linear(re.compile("a+b")).pattern
    ('Linear', 'a+b')
    """
    try:
        tree = sre.parse(compiled.pattern, compiled.flags & ~re.UNICODE)
        return Linear(tree, compiled) if _is_risky(tree, compiled.flags) else compiled
    except (_UnsupportedError, RecursionError):
        return compiled


# -- which patterns ----------------------------------------------------------------------------------------------------


def _parts(node: Any) -> list[object]:
    """Return the sequences within a node of the tree."""
    name, argument = str(node[0]), node[1]
    if name in _REPEATS:
        return [argument[2]]
    if name == "SUBPATTERN":
        return [argument[3]]
    return list(argument[1]) if name == "BRANCH" else []


def _is_risky(sequence: Any, flags: int) -> bool:
    for node in sequence:
        name = str(node[0])
        if name in _REPEATS and node[1][1] == sre.MAXREPEAT and not _is_single_way(node[1][2], flags):
            return True
        if any(_is_risky(part, flags) for part in _parts(node)):
            return True
    return False


def _flat(sequence: Any) -> Iterator[Any]:
    for node in sequence:
        if str(node[0]) == "SUBPATTERN":
            yield from _flat(node[1][3])
        else:
            yield node


def _is_single_way(body: object, flags: int) -> bool:
    """Return whether the body of a repetition surely has one way at most to match a text."""
    nodes = list(_flat(body))
    repeats = [node for node in nodes if str(node[0]) in _REPEATS]
    if any(str(node[0]) == "BRANCH" for node in nodes):
        return False
    if not repeats:
        return True
    inner = [list(_flat(node[1][2])) for node in repeats]
    if any(len(item) != 1 or str(item[0][0]) not in _SINGLE for item in inner):
        return False
    taken = set().union(*(_accept(item[0], flags) for item in inner))
    marks = [node for node in nodes if str(node[0]) in _SINGLE]
    return len(repeats) == 1 and any(not _accept(node, flags) & taken for node in marks)


def _accept(node: object, flags: int) -> set[str]:
    test = _tester(node, flags)
    return {char for char in _SAMPLE if test(char)}


# -- tests of one character --------------------------------------------------------------------------------------------


def _tester(node: Any, flags: int) -> Callable[[str], bool]:
    name, argument = str(node[0]), node[1]
    if name == "ANY":
        return (lambda _: True) if flags & re.DOTALL else lambda char: char != "\n"
    if name in {"LITERAL", "NOT_LITERAL"}:
        items, negated = [node], name == "NOT_LITERAL"
    else:
        negated = str(argument[0][0]) == "NEGATE"
        items = argument[1:] if negated else argument
    tests = [_item(str(kind), value) for kind, value in items]
    if flags & re.IGNORECASE:
        return lambda char: any(test(item) for test in tests for item in (char, char.lower(), char.upper())) != negated
    return lambda char: any(test(char) for test in tests) != negated


def _item(kind: str, value: Any) -> Callable[[str], bool]:
    if kind in {"LITERAL", "NOT_LITERAL"}:
        wanted = chr(value)
        return lambda char: char == wanted
    if kind == "RANGE":
        first, last = map(chr, value)
        return lambda char: first <= char <= last
    match = re.compile(_CATEGORIES[str(value)]).match
    return lambda char: match(char) is not None


# -- programs ----------------------------------------------------------------------------------------------------------


class Linear:
    """What searches with a program of a pattern; its methods are those of ``re.Pattern`` that functions of SQL call."""

    def __init__(self, tree: object, compiled: re.Pattern[str]) -> None:
        self.groups = compiled.groups
        self._code: list[tuple[str, Any]] = []
        self._sequence(tree, compiled.flags)
        self._add("match")

    def _add(self, name: str, argument: object = None) -> int:
        if len(self._code) >= _LARGEST:
            raise _UnsupportedError
        self._code.append((name, argument))
        return len(self._code) - 1

    def _sequence(self, nodes: Any, flags: int) -> None:
        for node in nodes:
            name, argument = str(node[0]), node[1]
            if name in _SINGLE:
                self._add("char", _tester(node, flags))
            elif name in _REPEATS:
                least, most, body = argument
                self._repeat(least, most, body, flags, greedy=name == "MAX_REPEAT")
            elif name == "SUBPATTERN":
                group, on, off, inner = argument
                if group is not None:
                    self._add("save", 2 * group)
                self._sequence(inner, (flags | on) & ~off)
                if group is not None:
                    self._add("save", 2 * group + 1)
            elif name == "BRANCH":
                self._branch(argument[1], flags)
            elif name == "AT":
                self._add("at", _position(str(argument), flags))
            else:
                raise _UnsupportedError

    def _branch(self, ways: Any, flags: int) -> None:
        ends = []
        for number, way in enumerate(ways):
            split = self._add("split") if number < len(ways) - 1 else None
            self._sequence(way, flags)
            if split is not None:
                ends.append(self._add("jump"))
                self._code[split] = ("split", (split + 1, len(self._code)))
        for end in ends:
            self._code[end] = ("jump", len(self._code))

    def _repeat(self, least: int, most: int, body: object, flags: int, *, greedy: bool) -> None:
        for _ in range(least):
            self._sequence(body, flags)
        splits = []
        for _ in range(1 if most == sre.MAXREPEAT else most - least):
            splits.append(self._add("split"))
            self._sequence(body, flags)
        if most == sre.MAXREPEAT:
            self._add("jump", splits[0])
        for split in splits:
            ways = (split + 1, len(self._code))
            self._code[split] = ("split", ways if greedy else ways[::-1])

    def _run(self, text: str, start: int, tried: set[int], *, whole: bool = False) -> list[int] | None:
        """Return the ends of the groups of the match that begins at a place."""
        code, size, width = self._code, len(text), len(text) + 1
        stack: list[tuple[int, int, Any]] = [(0, start, None)]
        while stack:
            at, place, saved = stack.pop()
            while True:
                if at * width + place in tried:
                    break
                tried.add(at * width + place)
                name, argument = code[at]
                if name == "char":
                    if place >= size or not argument(text[place]):
                        break
                    place += 1
                elif name == "split":
                    stack.append((argument[1], place, saved))
                    at = argument[0]
                    continue
                elif name == "jump":
                    at = argument
                    continue
                elif name == "save":
                    saved = (argument, place, saved)
                elif name == "at":
                    if not argument(text, place):
                        break
                elif not whole or place == size:
                    ends = [-1] * (2 * self.groups + 2)
                    ends[0], ends[1] = start, place
                    while saved is not None:
                        if ends[saved[0]] < 0:
                            ends[saved[0]] = saved[1]
                        saved = saved[2]
                    return ends
                else:
                    break
                at += 1
        return None

    def search(self, text: str, start: int = 0) -> Found | None:
        """Return the first match."""
        tried: set[int] = set()
        for place in range(start, len(text) + 1):
            ends = self._run(text, place, tried)
            if ends is not None:
                return Found(text, ends)
        return None

    def fullmatch(self, text: str) -> Found | None:
        """Return the match of the whole text."""
        ends = self._run(text, 0, set(), whole=True)
        return None if ends is None else Found(text, ends)

    def finditer(self, text: str) -> Iterator[Found]:
        """Yield all matches."""
        at = 0
        while at <= len(text):
            found = self.search(text, at)
            if found is None:
                return
            yield found
            at = found.end() if found.end() > found.start() else found.end() + 1

    def sub(self, replace: Callable[[object], str], text: str) -> str:
        """Replace all matches."""
        parts, at = [], 0
        for found in self.finditer(text):
            parts += [text[at : found.start()], replace(found)]
            at = found.end()
        return "".join([*parts, text[at:]])


class Found:
    """A match."""

    def __init__(self, text: str, ends: list[int]) -> None:
        self._text, self._ends = text, ends

    def __getitem__(self, group: int) -> str | None:
        """Return the text of a group."""
        return self.group(group)

    def group(self, number: int = 0) -> str | None:
        """Return the text of a group; None if it has no part in the match."""
        start, end = self._ends[2 * number : 2 * number + 2]
        return None if start < 0 or end < 0 else self._text[start:end]

    def start(self) -> int:
        """Return where the match begins."""
        return self._ends[0]

    def end(self) -> int:
        """Return where it ends."""
        return self._ends[1]


def _position(name: str, flags: int) -> Callable[[str, int], bool]:
    lines = bool(flags & re.MULTILINE)
    if name in {"AT_BEGINNING", "AT_BEGINNING_STRING"}:
        several = lines and name == "AT_BEGINNING"
        return lambda text, place: place == 0 or (several and text[place - 1] == "\n")
    if name == "AT_END":
        return lambda text, place: place == len(text) or (text[place] == "\n" and (lines or place == len(text) - 1))
    if name == "AT_END_STRING":
        return lambda text, place: place == len(text)
    if name not in {"AT_BOUNDARY", "AT_NON_BOUNDARY"}:
        raise _UnsupportedError
    wanted = name == "AT_BOUNDARY"

    def boundary(text: str, place: int) -> bool:
        before = place > 0 and _WORD.match(text[place - 1]) is not None
        after = place < len(text) and _WORD.match(text[place]) is not None
        return (before != after) == wanted

    return boundary
