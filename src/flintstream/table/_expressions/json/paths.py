"""Paths of JSON: ``lax $.store.book[*].title``, compiled into functions.

A path is read once, when a statement is planned, and again in each task. Every step becomes a function
``visit(value, root, found)`` that passes what it selects to the next one, and the last one adds to ``found``.
A step is definite if it selects one value at most. If all are, the result is that value, otherwise a list of all.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from flintstream.table._expressions.json.filters import FilterReader
from flintstream.table._expressions.json.steps import (
    Filter,
    Function,
    Indexes,
    Member,
    Scan,
    Selected,
    Slice,
    Step,
    Wildcard,
    compile_steps,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_MODE = re.compile(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)
_BRACKETS = re.compile(r"""[()\[\],]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_NUMBER = re.compile(r"-?\d+")
_SLICE = re.compile(r"(-?\d+)?\s*:\s*(-?\d+)?(?::.*)?")


class JsonPath:
    """A path. It is strict unless it begins with ``lax``: then what is missing is not an error.

    >>> JsonPath("$.a[*]").find({"a": [1, 2]})
    [1, 2]
    """

    def __init__(self, text: str) -> None:
        """Read a path; one that cannot be read raises when it is used, because clauses say what happens then."""
        self.text = text
        mode = _MODE.fullmatch(text)
        self.lax = mode is not None and mode[1].lower() == "lax"
        self._error = ""
        try:
            reader = _Reader(mode[2] if mode else text)
            self._definite, self._visit = compile_steps(reader.path(), lax=self.lax)
        except (ValueError, RecursionError) as error:
            self._error = str(error)

    def __reduce__(self) -> Any:
        """Pickle the text: functions cannot be pickled."""
        return JsonPath, (self.text,)

    def find(self, document: object) -> object:
        """Return what the path selects; None if it is missing and the path is lax.

        Raises:
            ValueError: The path cannot be read.
            LookupError: It does not fit the document.
        """
        if self._error:
            raise ValueError(self._error)
        if document is None:
            raise LookupError("the document is null")
        found: list[object] = []
        self._visit(document, document, found)
        value: object = found
        if self._definite:
            if not found:
                if self.lax:
                    return None
                raise LookupError(f"no value at {self.text}")
            value = found[-1]
        if value is None and not self.lax:
            raise LookupError(f"null is at {self.text}")
        return value


# -- reading -----------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the text of a path."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.at = 0

    def error(self, what: str) -> ValueError:
        return ValueError(f"the path '{self.text}' {what} at position {self.at + 1}")

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def path(self) -> list[Step | Function]:
        if self.peek().isspace():
            raise self.error("begins with a space")
        if self.peek() not in {"$", "@"}:
            self.text = f"$.{self.text}"
        if self.text.endswith("."):
            raise self.error("ends with a '.'")
        self.at = 1
        steps: list[Step | Function] = []
        while self.at < len(self.text):
            steps.append(self.step())
            if isinstance(steps[-1], Function) and self.at < len(self.text):
                raise self.error("continues after a function")
        return steps

    def step(self) -> Step | Function:
        if self.peek() == "[":
            return self.bracket()
        if self.peek() != ".":
            raise self.error("has neither '.' nor '['")
        self.at += 1
        if self.peek() == ".":
            self.at += 1
            step = self.step() if self.peek() == "[" else self.member()
            if not isinstance(step, Step):
                raise self.error("has a function after '..'")
            return Scan(step)
        return self.bracket() if self.peek() == "[" else self.member()

    def member(self) -> Step | Function:
        if self.peek() == "*":
            self.at += 1
            return Wildcard()
        found = re.compile(r"[^.\[( ]+").match(self.text, self.at)
        if found is None:
            raise self.error("needs a name")
        self.at = found.end()
        if self.peek() == " ":
            raise self.error("contains a space: write ['...']")
        if self.peek() != "(":
            return Member((found[0],))
        return Function(found[0], [self._parameter(text) for text in self._arguments()])

    def _arguments(self) -> list[str]:
        """Read the texts between ``(`` and ``)``."""
        found, depth, start = [], 0, self.at + 1
        for part in _BRACKETS.finditer(self.text, self.at):
            if part[0] in {"(", "["}:
                depth += 1
            elif part[0] in {")", "]"}:
                depth -= 1
            if (depth == 1 and part[0] == ",") or depth == 0:
                found.append(self.text[start : part.start()].strip())
                start = part.end()
            if depth == 0:
                self.at = part.end()
                return found if any(found) else []
        raise self.error("has a '(' without ')'")

    @staticmethod
    def _parameter(text: str) -> object:
        return Selected(tuple(_Reader(text).path())) if text.startswith(("$", "@")) else json.loads(text)

    def bracket(self) -> Step:
        inner = self.text[self.at + 1 :].lstrip()
        if inner[:1] in {"'", '"'}:
            return Member(self.read_quoted())
        if inner[:1] == "?":
            self.at += 1
            reader = FilterReader(self.text, self.text.index("?", self.at) + 1, self.inner)
            test = reader.read()
            self.at = reader.at
            return Filter(test)
        end = self.text.find("]", self.at)
        if end < 0:
            raise self.error("has a '[' without ']'")
        content = self.text[self.at + 1 : end].strip()
        self.at = end + 1
        if content == "*":
            return Wildcard()
        if _SLICE.fullmatch(content) and ":" in content:
            first, last = (part.strip() for part in content.split(":")[:2])
            return Slice(int(first) if first else None, int(last) if last else None)
        numbers = [part.strip() for part in content.split(",")]
        if not all(map(_NUMBER.fullmatch, numbers)):
            raise self.error(f"cannot select [{content}]")
        return Indexes(tuple(map(int, numbers)))

    def inner(self, text: str) -> Callable[[Any, Any], Any]:
        """Return the function of a path within a filter, which begins at the value or at the root."""
        reader = _Reader(text)
        definite, visit = compile_steps(reader.path(), lax=True)
        from_root = text.startswith("$")

        def find(value: object, root: object) -> object:
            found: list[object] = []
            visit(root if from_root else value, root, found)
            if definite and not found:
                raise LookupError(text)
            return found[-1] if definite else found

        return find

    def read_quoted(self) -> tuple[str, ...]:
        """Read ``['a', 'b']``."""
        names: list[str] = []
        pattern = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*([,\]])""", re.DOTALL)
        self.at += 1
        while True:
            found = pattern.match(self.text, self.at)
            if found is None:
                raise self.error("has an unclosed name")
            names.append(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2]))
            self.at = found.end()
            if found[3] == "]":
                return tuple(names)
