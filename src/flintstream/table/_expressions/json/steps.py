"""The steps of paths of JSON, and the functions at their ends.

Every step becomes a function ``visit(value, root, found)`` that passes what it selects to the next one; the last one
adds to ``found``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Visit = Callable[[object, object, list[object]], None]


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


def compile_steps(
    steps: Sequence[Step | Function], *, lax: bool
) -> tuple[bool, Visit, tuple[Callable[[object], object], ...]]:
    """Return whether a path is definite, the function of its first step, and those of its result."""
    functions = tuple(step.apply for step in steps if isinstance(step, Function))
    parts = [step for step in steps if isinstance(step, Step)]
    if parts and isinstance(parts[-1], Member):
        parts[-1].definite = True  # several names at the end give one object
    then: Visit | None = None
    for i in reversed(range(len(parts))):
        upstream = all(part.definite for part in parts[:i])
        then = parts[i].compile(then, strict=upstream and not lax)
    return all(part.definite for part in parts), then or _take, functions


def _take(value: object, root: object, found: list[object]) -> None:  # noqa: ARG001 - one signature
    found.append(value)


class Member(Step):
    """``.name`` or ``['a', 'b']``."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.definite = len(names) == 1

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        names, text = self.names, ", ".join(self.names)

        def one(value: object, root: object, found: list[Any]) -> None:
            if type(value) is not dict:
                if strict:
                    raise LookupError(f"'{name}' is not in an object")
            elif name in value:
                following(value[name], root, found)
            elif strict:
                raise LookupError(f"there is no '{name}'")

        def several(value: object, root: object, found: list[object]) -> None:
            if type(value) is dict:
                if then is None:
                    found.append({name: value[name] for name in names if name in value})
                else:
                    for item in names:
                        if item in value:
                            then(value[item], root, found)
            elif strict:
                raise LookupError(f"{text} are not in an object")

        name, following = names[0], then or _take
        return one if len(names) == 1 else several


class Indexes(Step):
    """``[0]`` or ``[0, -1]``."""

    def __init__(self, indexes: tuple[int, ...]) -> None:
        self.indexes = indexes
        self.definite = len(indexes) == 1

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        indexes, following = self.indexes, then or _take

        def visit(value: object, root: object, found: list[object]) -> None:
            if type(value) is list:
                size = len(value)
                for index in indexes:
                    if -size <= index < size:
                        following(value[index], root, found)
            elif strict:
                raise LookupError(f"{indexes} is not in an array")

        return visit


class Slice(Step):
    """``[1:3]``."""

    definite = False

    def __init__(self, first: int | None, last: int | None) -> None:
        self.chosen = slice(first, last)

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        chosen, following = self.chosen, then or _take

        def visit(value: object, root: object, found: list[object]) -> None:
            if type(value) is list:
                for item in value[chosen]:
                    following(item, root, found)
            elif strict:
                raise LookupError("a slice needs an array")

        return visit


class Wildcard(Step):
    """``*``: all members or elements."""

    definite = False

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        following = then or _take

        def visit(value: object, root: object, found: list[object]) -> None:
            if type(value) is dict:
                for item in value.values():
                    following(item, root, found)
            elif type(value) is list:
                for item in value:
                    following(item, root, found)

        return visit


class Filter(Step):
    """``[?(@.price < 10)]``: the elements, or the object itself, for which a condition holds."""

    definite = False

    def __init__(self, test: Callable[[Any, Any], bool]) -> None:
        self.test = test

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        test, following = self.test, then or _take

        def visit(value: object, root: object, found: list[object]) -> None:
            if type(value) is dict:
                if test(value, root):
                    following(value, root, found)
            elif type(value) is list:
                for item in value:
                    if test(item, root):
                        following(item, root, found)
            elif strict:
                raise LookupError("a filter needs an array or an object")

        return visit


class Scan(Step):
    """``..``: the step after it at every depth."""

    definite = False

    def __init__(self, step: Step) -> None:
        self.step = step

    def compile(self, then: Visit | None, *, strict: bool) -> Visit:
        step = self.step
        select = step.compile(then, strict=False)
        lists = not isinstance(step, Member)
        objects = not isinstance(step, (Indexes, Slice))

        def visit(value: object, root: object, found: list[object]) -> None:
            if type(value) is dict:
                if objects:
                    select(value, root, found)
                for item in value.values():
                    visit(item, root, found)
            elif type(value) is list:
                if lists:
                    select(value, root, found)
                for item in value:
                    visit(item, root, found)

        return visit


# -- functions at the end of a path -----------------------------------------------------------------------------------


def _numbers(value: object) -> list[float]:
    numbers = [float(item) for item in value if type(item) in {int, float, Decimal}] if type(value) is list else []
    if not numbers:
        raise LookupError("a function on numbers got no numbers")
    return numbers


def _deviation(numbers: list[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(max(math.fsum(number * number for number in numbers) / len(numbers) - mean * mean, 0.0))


_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "avg": lambda numbers: sum(numbers) / len(numbers),
    "stddev": _deviation,
}


def _append(value: object, more: list[object]) -> object:
    return [*value, *more] if type(value) is list else value


def _concat(value: object, more: list[object]) -> object:
    """Return one text of the texts of a list and others; others do not count."""
    given = value if type(value) is list else [value]
    return "".join(item for item in (*given, *more) if isinstance(item, str))


_JOINING: dict[str, Callable[[object, list[object]], object]] = {"append": _append, "concat": _concat}


class Function:
    """``.length()`` and its like."""

    def __init__(self, name: str, argument: str) -> None:
        self.name, self.argument = name, argument
        if name not in {*_STATISTICS, *_JOINING, "length", "size", "keys", "first", "last", "index"}:
            raise ValueError(f"unknown function {name}() in a path")
        self.more: list[object] = json.loads(f"[{argument}]") if name in _JOINING else []
        """Literals to be joined with the value."""

    def apply(self, value: Any) -> object:
        """Return the result of a value."""
        name = self.name
        if name in _STATISTICS:
            return _STATISTICS[name](_numbers(value))
        if name in _JOINING:
            return _JOINING[name](value, self.more)
        if name in {"length", "size"}:
            return len(value) if type(value) in {list, dict, str} else None
        if name == "keys":
            return list(value) if type(value) is dict else None
        try:
            return value[{"first": 0, "last": -1}.get(name, int(self.argument or 0))]
        except (TypeError, KeyError, IndexError):
            raise LookupError(f"{name}() found nothing") from None
