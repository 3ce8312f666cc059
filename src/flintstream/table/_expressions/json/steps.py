"""The steps of paths of JSON, and the functions at their ends.

Every step becomes a function ``visit(value, root, found)`` that passes what it selects to the next one; the last one
adds to ``found``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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


def compile_steps(steps: Sequence[Step | Function], *, lax: bool) -> tuple[bool, Visit]:
    """Return whether a path is definite, and the function of its first step.

    A function at the end is called for each value that the path selects. If the path begins with ``..``, it is called
    once, with all of them.
    """
    parts = [step for step in steps if isinstance(step, Step)]
    function = next((step for step in steps if isinstance(step, Function)), None)
    if function is not None and parts and isinstance(parts[0], Scan):
        function, parts = Function(function.name, (Selected(tuple(parts)),)), []
    if function is None and parts and isinstance(parts[-1], Member):
        parts[-1].definite = True  # several names at the end give one object
    then = None if function is None else function.compile(lax=lax)
    for i in reversed(range(len(parts))):
        upstream = all(part.definite for part in parts[:i])
        then = parts[i].compile(then, strict=upstream and not lax)
    return all(part.definite for part in parts), then or _take


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


@dataclass(frozen=True)
class Selected:
    """What a path from the root of the document selects, as a parameter of a function."""

    steps: tuple[Step | Function, ...]

    def reader(self, *, lax: bool, children: bool = False) -> Callable[[object], object]:
        """Return the function that finds it in a document: one value, or a list; perhaps the children of the values.

        Whether it is a list depends on the path as it is written.
        """
        definite, visit = compile_steps((*self.steps, Wildcard()) if children else self.steps, lax=lax)
        definite = all(step.definite for step in self.steps if isinstance(step, Step)) if children else definite

        def find(root: object) -> object:
            found: list[object] = []
            visit(root, root, found)
            if not definite:
                return found
            if not found:
                raise LookupError("a parameter of a function selects nothing")
            return found[-1]

        return find


def _deviation(numbers: Sequence[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(max(math.fsum(number * number for number in numbers) / len(numbers) - mean * mean, 0.0))


_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "avg": lambda numbers: sum(numbers) / len(numbers),
    "stddev": _deviation,
}
_NUMBERS = (int, float, Decimal)
_POSITIONS = {"first": 0, "last": -1}


class Function:
    """``.length()`` and its like, with literals and paths as parameters."""

    def __init__(self, name: str, parameters: Sequence[object] = ()) -> None:
        self.name, self.parameters = name, tuple(parameters)
        if name not in {*_STATISTICS, *_POSITIONS, "append", "concat", "length", "size", "keys", "index"}:
            raise ValueError(f"unknown function {name}() in a path")

    def compile(self, *, lax: bool) -> Visit:
        """Return the function that adds the result for a value."""
        children = self.name in {"length", "size"}
        readers = [
            item.reader(lax=lax, children=children) if isinstance(item, Selected) else lambda _, item=item: item
            for item in self.parameters
        ]

        def visit(value: object, root: object, found: list[object]) -> None:
            found.append(self._apply(value, [read(root) for read in readers]))

        return visit

    def _apply(self, value: Any, given: list[object]) -> object:
        name = self.name
        if name in _STATISTICS:
            items = _all(value if type(value) is list else [], given)
            numbers = [float(item) for item in items if isinstance(item, _NUMBERS) and not isinstance(item, bool)]
            if not numbers:
                raise LookupError("a function on numbers got no numbers")
            return _STATISTICS[name](numbers)
        if name == "append":
            return [*value, *given] if type(value) is list else value
        if name == "concat":
            texts = [item for item in (value if type(value) is list else [value]) if isinstance(item, str)]
            return "".join(
                [*texts, *(item if isinstance(item, str) else str(item) for item in _all([], given) if item)]
            )
        if name in {"length", "size"}:
            counted = given[0] if given and type(given[0]) is list else value
            return len(counted) if type(counted) in {list, dict, str} else None
        if name == "keys":
            return list(value) if type(value) is dict else None
        try:
            return value[_POSITIONS[name] if name in _POSITIONS else int(str(given[0]))]
        except (TypeError, KeyError, IndexError, ValueError):
            raise LookupError(f"{name}() found nothing") from None


def _all(values: Sequence[object], given: Sequence[object]) -> list[object]:
    """Return values, and parameters, of which lists stand for their elements."""
    return [*values, *(part for item in given for part in (item if type(item) is list else [item]))]
