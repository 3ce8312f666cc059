"""Paths of JSON: ``lax $.store.book[*].title``, compiled into functions.

A path is read once, when a statement is planned, and again in each task. Every step becomes a function
``visit(value, root, found)`` that passes what it selects to the next one, and the last one adds to ``found``.
A step is definite if it selects one value at most. If all are, the result is that value, otherwise a list of all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.table._expressions.json_filters import FilterReader

if TYPE_CHECKING:
    from collections.abc import Sequence

Visit = Callable[[Any, Any, list[Any]], None]
_MODE = re.compile(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"-?\d+")
_SLICE = re.compile(r"(-?\d+)?\s*:\s*(-?\d+)?(?::.*)?")


class JsonPath:
    """A path. It is strict unless it begins with ``lax``: then what is missing is no error.

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
            self._definite, self._visit, self._functions = compiled(reader.path(), lax=self.lax)
        except ValueError as error:
            self._error = str(error)

    def __reduce__(self) -> Any:
        """Pickle the text: functions cannot be pickled."""
        return JsonPath, (self.text,)

    def find(self, document: Any) -> Any:
        """Return what the path selects; None if it is missing and the path is lax.

        Raises:
            ValueError: The path cannot be read.
            LookupError: It does not fit the document.
        """
        if self._error:
            raise ValueError(self._error)
        found: list[Any] = []
        self._visit(document, document, found)
        value: Any = found
        if self._definite:
            if not found:
                if self.lax:
                    return None
                raise LookupError(f"nothing is at {self.text}")
            value = found[-1]
        for function in self._functions:
            value = function(value)
        return value


# -- reading -----------------------------------------------------------------------------------------------------------


class Step:
    """A part of a path."""

    definite = True

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        """Return the function of this step.

        Args:
            then: The next step's; None if this is the last one.
            strict: Whether a value that does not fit is an error.
        """
        raise NotImplementedError


def compiled(steps: Sequence[Step | _Function], *, lax: bool) -> tuple[bool, Visit, tuple[Callable[[Any], Any], ...]]:
    """Return whether a path is definite, the function of its first step, and those of its result."""
    functions = tuple(each.apply for each in steps if isinstance(each, _Function))
    parts = [each for each in steps if isinstance(each, Step)]
    then: Visit | None = None
    for i in reversed(range(len(parts))):
        upstream = all(each.definite for each in parts[:i])
        then = parts[i].compile(then, strict=upstream and not lax)
    return all(each.definite for each in parts), then or _take, functions


def _take(value: Any, root: Any, found: list[Any]) -> None:  # noqa: ARG001 - one signature
    found.append(value)


class _Reader:
    """Reads the text of a path."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.at = 0

    def error(self, what: str) -> ValueError:
        return ValueError(f"the path '{self.text}' {what} at position {self.at + 1}")

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def path(self) -> list[Step | _Function]:
        if self.peek() not in {"$", "@"}:
            self.text = f"$.{self.text}"
        if self.text.endswith("."):
            raise self.error("ends with a '.'")
        self.at = 1
        steps: list[Step | _Function] = []
        while self.at < len(self.text):
            steps.append(self.step())
            if isinstance(steps[-1], _Function) and self.at < len(self.text):
                raise self.error("goes on after a function")
        return steps

    def step(self) -> Step | _Function:
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
            return _Scan(step)
        return self.bracket() if self.peek() == "[" else self.member()

    def member(self) -> Step | _Function:
        if self.peek() == "*":
            self.at += 1
            return _Wildcard()
        found = re.compile(r"[^.\[( ]+").match(self.text, self.at)
        if found is None:
            raise self.error("needs a name")
        self.at = found.end()
        if self.peek() == " ":
            raise self.error("has a blank: write ['...']")
        if self.peek() != "(":
            return _Member((found[0],))
        end = self.text.find(")", self.at)
        if end < 0:
            raise self.error("has a '(' without ')'")
        argument = self.text[self.at + 1 : end].strip()
        self.at = end + 1
        return _Function(found[0], argument)

    def bracket(self) -> Step:
        inner = self.text[self.at + 1 :].lstrip()
        if inner[:1] in {"'", '"'}:
            return _Member(self.quoted())
        if inner[:1] == "?":
            self.at += 1
            reader = FilterReader(self.text, self.text.index("?", self.at) + 1, self.inner)
            test = reader.read()
            self.at = reader.at
            return _Filter(test)
        end = self.text.find("]", self.at)
        if end < 0:
            raise self.error("has a '[' without ']'")
        content = self.text[self.at + 1 : end].strip()
        self.at = end + 1
        if content == "*":
            return _Wildcard()
        if _SLICE.fullmatch(content) and ":" in content:
            first, last = (each.strip() for each in content.split(":")[:2])
            return _Slice(int(first) if first else None, int(last) if last else None)
        numbers = [each.strip() for each in content.split(",")]
        if not all(map(_NUMBER.fullmatch, numbers)):
            raise self.error(f"cannot select [{content}]")
        return _Indexes(tuple(map(int, numbers)))

    def inner(self, text: str) -> Callable[[Any, Any], Any]:
        """Return the function of a path within a filter, which begins at the value or at the root."""
        reader = _Reader(text)
        definite, visit, functions = compiled(reader.path(), lax=True)
        from_root = text.startswith("$")

        def find(value: Any, root: Any) -> Any:
            found: list[Any] = []
            visit(root if from_root else value, root, found)
            if definite and not found:
                raise LookupError(text)
            result = found[-1] if definite else found
            for function in functions:
                result = function(result)
            return result

        return find

    def quoted(self) -> tuple[str, ...]:
        """Read ``['a', 'b']``."""
        names: list[str] = []
        pattern = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*([,\]])""", re.DOTALL)
        self.at += 1
        while True:
            found = pattern.match(self.text, self.at)
            if found is None:
                raise self.error("has a name without an end")
            names.append(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2]))
            self.at = found.end()
            if found[3] == "]":
                return tuple(names)


# -- steps ------------------------------------------------------------------------------------------------------------


class _Member(Step):
    """``.name`` or ``['a', 'b']``."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.definite = len(names) == 1

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        names, text = self.names, ", ".join(self.names)

        def one(value: Any, root: Any, found: list[Any]) -> None:
            if type(value) is not dict:
                if strict:
                    raise LookupError(f"'{name}' is not in an object")
            elif name in value:
                following(value[name], root, found)
            elif strict:
                raise LookupError(f"there is no '{name}'")

        def several(value: Any, root: Any, found: list[Any]) -> None:
            if type(value) is dict:
                if then is None:
                    found.append({name: value[name] for name in names if name in value})
                else:
                    for each in names:
                        if each in value:
                            then(value[each], root, found)
            elif strict:
                raise LookupError(f"{text} are not in an object")

        name, following = names[0], then or _take
        return one if len(names) == 1 else several


class _Indexes(Step):
    """``[0]`` or ``[0, -1]``."""

    def __init__(self, indexes: tuple[int, ...]) -> None:
        self.indexes = indexes
        self.definite = len(indexes) == 1

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        indexes, following = self.indexes, then or _take

        def visit(value: Any, root: Any, found: list[Any]) -> None:
            if type(value) is list:
                size = len(value)
                for index in indexes:
                    if -size <= index < size:
                        following(value[index], root, found)
            elif strict:
                raise LookupError(f"{indexes} is not in an array")

        return visit


class _Slice(Step):
    """``[1:3]``."""

    definite = False

    def __init__(self, first: int | None, last: int | None) -> None:
        self.chosen = slice(first, last)

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        chosen, following = self.chosen, then or _take

        def visit(value: Any, root: Any, found: list[Any]) -> None:
            if type(value) is list:
                for each in value[chosen]:
                    following(each, root, found)
            elif strict:
                raise LookupError("a slice is not of an array")

        return visit


class _Wildcard(Step):
    """``*``: all members or elements."""

    definite = False

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:  # noqa: ARG002 - others need it
        following = then or _take

        def visit(value: Any, root: Any, found: list[Any]) -> None:
            if type(value) is dict:
                for each in value.values():
                    following(each, root, found)
            elif type(value) is list:
                for each in value:
                    following(each, root, found)

        return visit


class _Filter(Step):
    """``[?(@.price < 10)]``: the elements, or the object itself, for which a condition holds."""

    definite = False

    def __init__(self, test: Callable[[Any, Any], bool]) -> None:
        self.test = test

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        test, following = self.test, then or _take

        def visit(value: Any, root: Any, found: list[Any]) -> None:
            if type(value) is dict:
                if test(value, root):
                    following(value, root, found)
            elif type(value) is list:
                for each in value:
                    if test(each, root):
                        following(each, root, found)
            elif strict:
                raise LookupError("a filter is neither of an array nor of an object")

        return visit


class _Scan(Step):
    """``..``: the step after it at every depth."""

    definite = False

    def __init__(self, step: Step) -> None:
        self.step = step

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:  # noqa: ARG002 - others need it
        step = self.step
        select = step.compile(then, strict=False)
        lists = not isinstance(step, _Member)
        objects = not isinstance(step, (_Indexes, _Slice))

        def visit(value: Any, root: Any, found: list[Any]) -> None:
            if type(value) is dict:
                if objects:
                    select(value, root, found)
                for each in value.values():
                    visit(each, root, found)
            elif type(value) is list:
                if lists:
                    select(value, root, found)
                for each in value:
                    visit(each, root, found)

        return visit


# -- functions at the end of a path -----------------------------------------------------------------------------------


def _numbers(value: Any) -> list[float]:
    numbers = [float(each) for each in value if type(each) in {int, float, Decimal}] if type(value) is list else []
    if not numbers:
        raise LookupError("a function of numbers got none")
    return numbers


def _deviation(numbers: list[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum(each * each for each in numbers) / len(numbers) - mean * mean)


_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "avg": lambda numbers: sum(numbers) / len(numbers),
    "stddev": _deviation,
}


class _Function:
    """``.length()`` and its like."""

    def __init__(self, name: str, argument: str) -> None:
        self.name, self.argument = name, argument
        if name not in {*_STATISTICS, "length", "size", "keys", "first", "last", "index"}:
            raise ValueError(f"there is no function {name}() of paths")

    def apply(self, value: Any) -> Any:
        """Return the result of a value."""
        name = self.name
        if name in _STATISTICS:
            return _STATISTICS[name](_numbers(value))
        if name in {"length", "size"}:
            return len(value) if type(value) in {list, dict, str} else None
        if name == "keys":
            return list(value) if type(value) is dict else None
        try:
            return value[{"first": 0, "last": -1}.get(name, int(self.argument or 0))]
        except (TypeError, KeyError, IndexError):
            raise LookupError(f"{name}() found nothing") from None
