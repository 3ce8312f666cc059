"""Finds the matches of a pattern in the rows of a partition.

Matches begin at one row after the other: the next row counts only after the one before it has a match, or can have none
any more. Of several ways in which a row can begin a match, the one that ends first wins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.table._operators.matching.pattern import State
    from flintstream.table._operators.rows import Row

    Starts: TypeAlias = tuple[int, ...]
    """The positions of the first rows of variables; one without rows has the position of the next row."""
    Run: TypeAlias = tuple[int, Starts]
    """An incomplete match: its state, and the starts up to the variable of that state."""
    Totals: TypeAlias = dict[str, tuple[int, int, object]]
    """Aggregates of rows by the place of the code that needs them: the first row, the end, and the accumulators."""
    Test: TypeAlias = Callable[[Sequence[Row], Starts, int, Totals], object]
    """Returns whether the last row is one of a variable.

    It gets rows, the starts up to this variable, the end, and aggregates that it may continue.
    """

Skip = Literal["PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"]


@dataclass
class Progress:
    """How far the rows of a partition have been searched."""

    rows: list[Row] = field(default_factory=list)
    """Those from the first one on that may begin a match."""
    times: list[int] = field(default_factory=list)
    """Their times (ms)."""
    runs: list[Run] = field(default_factory=list)
    """What matches that begin at the first row have come to."""
    totals: Totals = field(default_factory=dict)
    """What conditions have aggregated, so that a row more costs no more than one."""

    def forget(self, count: int) -> None:
        """Drop rows that no run has."""
        if count:
            self.rows, self.times, self.totals = self.rows[count:], self.times[count:], {}
            self.runs = [(state, tuple([start - count for start in starts])) for state, starts in self.runs]


class Matcher:
    """Finds matches. Its states are those of the pattern; a variable without a test takes any row.

    >>> from flintstream.table._operators.matching.pattern import Variable, compile_pattern
    >>> states = compile_pattern([Variable("A"), Variable("B", 1, None), Variable("C")])
    >>> def falls(rows, starts, end, totals):
    ...     return rows[end - 1][0] < rows[end - 2][0]
    >>> matcher = Matcher(states, [None, falls, None], ("PAST LAST ROW", 0))
    >>> progress = Progress()
    >>> [[starts for _, starts in matcher.add(progress, (price,), 0)] for price in [9, 7, 5, 6]]
    [[], [], [], [(0, 1, 3, 4)]]
    """

    def __init__(
        self,
        states: Sequence[State],
        tests: Sequence[Test | None],
        skip: tuple[Skip, int],
        within_ms: int | None = None,
    ) -> None:
        """Take the pattern, where to go on after a match (perhaps at a variable), and how long a match may take.

        A match that began ``within_ms`` ago is given up.
        """
        self.states, self.tests, self.skip, self.within_ms = tuple(states), tuple(tests), skip, within_ms
        self.end = len(self.states)
        self.variables = self.states[-1].variable + 1
        self.ends = [_may_end(self.states, number) for number in range(self.end + 1)]

    def add(self, progress: Progress, row: Row, time: int) -> Iterator[tuple[list[Row], Starts]]:
        """Add the next row, and yield the matches that it ends: all rows, and the starts of all variables and the end.

        Raises:
            ValueError: The row after a match is its first row, or one of a variable without rows.
        """
        yield from self.advance(progress, time)
        progress.rows.append(row)
        progress.times.append(time)
        yield from self._search(progress, len(progress.rows) - 1)

    def advance(self, progress: Progress, time: int) -> Iterator[tuple[list[Row], Starts]]:
        """Give up what began too long before a time, and yield the matches of later rows that waited for that."""
        if self.within_ms is None:
            return
        while progress.times and time - progress.times[0] >= self.within_ms:
            progress.runs = []
            progress.forget(1)
            yield from self._search(progress, 0)

    def _search(self, progress: Progress, position: int) -> Iterator[tuple[list[Row], Starts]]:
        """Try the rows from a position on, and then those from which on later matches may begin."""
        rows, times, within = progress.rows, progress.times, self.within_ms
        first, end, runs = 0, len(progress.rows), progress.runs
        while position < end:
            found = None
            if position == first:
                runs = [(0, (first,))]
            if within is None or times[position] - times[first] < within or position == first:
                runs, found = self.step(runs, progress, position)
            else:
                runs = []
            if found is not None:
                yield rows, found
                position = first = self._next(found)
                runs = []
            elif runs:
                position += 1
            else:
                position = first = first + 1
        progress.runs = runs
        progress.forget(first)

    def step(self, runs: Sequence[Run], progress: Progress, position: int) -> tuple[list[Run], Starts | None]:
        """Return what a row makes of runs, and the first match that it ends."""
        made: list[Run] = []
        for state, starts in runs:
            found = self._follow(state, starts, progress, position, made)
            if found is not None:
                return made, found
        return made, None

    def _follow(self, number: int, starts: Starts, progress: Progress, position: int, made: list[Run]) -> Starts | None:
        """Add what a row makes of a run, and return the match that it ends."""
        states, end = self.states, self.end
        while True:
            state = states[number]
            variable, following = state.variable, state.taken
            if self._takes(variable, starts, progress, position) and (
                state.unless is None or not self._takes(state.unless, starts[:-1], progress, position)
            ):
                moves = following == end or states[following].variable != variable
                after = (*starts, position + 1) if moves else starts
                if self.ends[following]:
                    return (*after, *[position + 1] * (self.variables + 1 - len(after)))
                made.append((following, after))
            if state.skipped is None or state.skipped == end:
                return None
            number = state.skipped
            starts = (*starts, position)

    def _takes(self, variable: int, starts: Starts, progress: Progress, position: int) -> bool:
        test = self.tests[variable]
        return test is None or test(progress.rows, starts, position + 1, progress.totals) is True

    def _next(self, starts: Starts) -> int:
        """Return where the next match may begin."""
        how, variable = self.skip
        if how == "PAST LAST ROW":
            return starts[-1]
        if how == "TO NEXT ROW":
            return starts[0] + 1
        begin, end = starts[variable : variable + 2]
        target = begin if how == "TO FIRST" else end - 1
        if begin == end:
            raise ValueError("AFTER MATCH SKIP leads to a variable that has no row in the match")
        if target == starts[0]:
            raise ValueError("AFTER MATCH SKIP leads to the first row of the match, which would be found again")
        return target


def _may_end(states: Sequence[State], number: int) -> bool:
    """Return whether a match is complete in a state: no variable needs a further row."""
    while number < len(states):
        skipped = states[number].skipped
        if skipped is None:
            return False
        number = skipped
    return True
