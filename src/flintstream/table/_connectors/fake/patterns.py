"""Random texts that match a regular expression."""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[], str]

_MOST = 10
"""How often ``*`` and ``+`` repeat at most."""
_CLASSES = {"d": string.digits, "w": string.ascii_letters + string.digits + "_", "s": " "}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_PRINTABLE = string.ascii_letters + string.digits + string.punctuation


def matching(pattern: str) -> Make:
    """Return the function that makes texts which match a pattern.

    It knows groups, alternatives, classes, and repetitions.

    Raises:
        SqlError: The pattern has something else.

    >>> matching("(GET){1}/[a]{3}")()
    'GET/aaa'
    """
    reader = _Pattern(pattern)
    made = reader.alternatives()
    if reader.at < len(pattern):
        raise reader.wrong(f"an unmatched '{pattern[reader.at]}'")
    return made


class _Pattern:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def wrong(self, what: str) -> SqlError:
        return SqlError(f"the pattern '{self.text}' of regexify has {what} at character {self.at + 1}")

    def next(self) -> str:
        if self.at >= len(self.text):
            raise self.wrong("no end")
        self.at += 1
        return self.text[self.at - 1]

    def ahead(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    def alternatives(self) -> Make:
        branches = [self.sequence()]
        while self.ahead("|"):
            self.at += 1
            branches.append(self.sequence())
        if len(branches) == 1:
            return branches[0]

        def any_branch() -> str:
            return random.choice(branches)()  # noqa: S311 - test data

        return any_branch

    def sequence(self) -> Make:
        parts: list[Make] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self.repeat_part(self.atom()))
        if len(parts) == 1:
            return parts[0]
        return lambda: "".join([part() for part in parts])

    def atom(self) -> Make:
        char = self.next()
        if char == "(":
            if self.ahead("?:"):
                self.at += 2
            elif self.ahead("?"):
                raise self.wrong("a special group")
            made = self.alternatives()
            if self.next() != ")":
                raise self.wrong("an unclosed group")
            return made
        if char == "[":
            return _one_of(self.members())
        if char == ".":
            return _one_of(_PRINTABLE)
        if char == "\\":
            return _one_of(self.read_escape())
        if char in "^$":
            return lambda: ""
        if char in "*+?":
            raise self.wrong(f"nothing to repeat before '{char}'")
        return lambda: char

    def read_escape(self) -> str:
        char = self.next()
        if char in "bBAzZ" or char.isdigit():
            raise self.wrong(f"'\\{char}'")
        if char.lower() in _CLASSES:
            chosen = _CLASSES[char.lower()]
            return chosen if char.islower() else "".join(item for item in _PRINTABLE if item not in chosen)
        return _ESCAPES.get(char, char)

    def members(self) -> str:
        negated = self.ahead("^")
        self.at += negated
        found = ""
        while not self.ahead("]") or not found:
            char = self.next()
            if char == "\\":
                found += self.read_escape()
            elif self.ahead("-") and not self.ahead("-]"):
                self.at += 1
                found += "".join(map(chr, range(ord(char), ord(self.next()) + 1)))
            else:
                found += char
        self.at += 1
        chosen = "".join(item for item in _PRINTABLE if item not in found) if negated else found
        if not chosen:
            raise self.wrong("an empty class")
        return chosen

    def repeat_part(self, made: Make) -> Make:
        low, high = 1, 1
        if self.ahead("{"):
            low, high = self.counts()
        elif self.at < len(self.text) and self.text[self.at] in "*+?":
            low, high = {"*": (0, _MOST), "+": (1, _MOST), "?": (0, 1)}[self.next()]
        else:
            return made
        if self.ahead("?") or self.ahead("+"):  # how much it takes makes no difference here
            self.at += 1
        if low == high == 1:
            return made
        return lambda: "".join([made() for _ in range(random.randint(low, high))])  # noqa: S311

    def counts(self) -> tuple[int, int]:
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : end].partition(",")
        if end < 0 or not low.strip().isdigit() or not (not high.strip() or high.strip().isdigit()):
            raise self.wrong("a repetition that is not a number")
        self.at = end + 1
        least = int(low)
        most = int(high) if high.strip() else least + _MOST if comma else least
        if most < least:
            raise self.wrong("a repetition whose end is before its start")
        return least, most


def _one_of(members: str) -> Make:
    return (lambda: members) if len(members) == 1 else lambda: random.choice(members)  # noqa: S311
