"""Patterns of MATCH_RECOGNIZE, and the states of a match that they stand for.

A pattern is a sequence of variables, and the rows of a match follow each other without a gap. So each variable has a
range of rows, and a match is known by the positions at which these ranges begin.

>>> for state in compile_pattern([Variable("A"), Variable("B", 1, None), Variable("C")]):
...     print(state)
State(variable=0, taken=1, skipped=None, unless=None)
State(variable=1, taken=2, skipped=None, unless=None)
State(variable=1, taken=2, skipped=3, unless=None)
State(variable=2, taken=4, skipped=None, unless=1)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Variable:
    """A variable of a pattern, and how many rows it takes."""

    name: str
    least: int = 1
    most: int | None = 1
    """None means any number."""
    greedy: bool = True
    """Whether a row that is of this variable is of none after it."""

    @property
    def is_optional(self) -> bool:
        """Whether it may take no row."""
        return self.least == 0

    @property
    def is_greedy(self) -> bool:
        """Whether it takes rows from the variable after it; in Flink, ``A?`` and ``A{2}`` do not."""
        return self.greedy and self.least != self.most and (self.least, self.most) != (0, 1)


@dataclass(frozen=True)
class State:
    """What a match waits for: a row of a variable, or of those after it."""

    variable: int
    taken: int
    """The state after a row of the variable. The number of states stands for the end of the pattern."""
    skipped: int | None = None
    """The state that the match is in as well, because the variable needs no further row."""
    unless: int | None = None
    """The greedy variable before, whose rows this one cannot begin with."""


def compile_pattern(pattern: Sequence[Variable]) -> tuple[State, ...]:
    """Return the states of a pattern; a match begins in the first one."""
    states: list[State] = []
    for number, variable in enumerate(pattern):
        made = _states_of(number, variable, len(states))
        if number and pattern[number - 1].is_greedy:
            made[0] = replace(made[0], unless=number - 1)
        states += made
    return tuple(states)


def _states_of(number: int, variable: Variable, first: int) -> list[State]:
    """Return the states of a variable: one for each row that it needs or may take, or for all further rows."""
    needed = max(variable.least, 1)
    count = needed + 1 if variable.most is None else variable.most
    end = first + count
    free = [variable.is_optional, *(i >= needed for i in range(1, count))]
    made = [State(number, first + i + 1, end if free[i] else None) for i in range(count)]
    if variable.most is None:
        made[-1] = replace(made[-1], taken=end - 1)
    return made
