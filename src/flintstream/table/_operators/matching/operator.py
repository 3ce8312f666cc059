"""MATCH_RECOGNIZE on a keyed stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.contracts.functions import KeyedProcessFunction
from flintstream.runtime.windows.operator import LATE_RECORDS
from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.matching.matcher import Matcher, Progress
from flintstream.table._operators.rows import map_state, value_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.contracts.state import MapState, ValueState
    from flintstream.contracts.timers import TimerService
    from flintstream.table._operators.matching.expressions import Compiled, MatchFunction
    from flintstream.table._operators.matching.matcher import Run, Skip, Starts, Test, Totals
    from flintstream.table._operators.matching.pattern import State
    from flintstream.table._operators.ordering import RowOrder
    from flintstream.table._operators.rows import Row

    Stored: TypeAlias = tuple[list[Row], list[int], list[Run], Totals]
    Match: TypeAlias = tuple[Sequence[Row], Starts]


@dataclass(frozen=True)
class MatchSpec:
    """What rows match, and what a match becomes."""

    states: tuple[State, ...]
    tests: tuple[MatchFunction | None, ...]
    """The conditions of variables; None takes any row."""
    measures: MatchFunction
    """All columns of the result."""
    skip: tuple[Skip, int]
    within_ms: int | None


class MatchRows(KeyedProcessFunction):
    """Emits the matches among the rows of a key."""

    def __init__(self, spec: MatchSpec, order: RowOrder | None) -> None:
        """Take the pattern, and the order of rows of the same time; None for that of arrival."""
        self.spec, self.order = spec, order

    def open(self, runtime_context: RuntimeContext) -> None:
        """Compile the expressions, and declare the rows that wait for their time, and those of incomplete matches."""
        spec = self.spec
        for function in self._functions():
            function.open(runtime_context)
        tests = [None if test is None else _test(test.code()) for test in spec.tests]
        self.matcher = Matcher(spec.states, tests, spec.skip, spec.within_ms)
        self.measures = spec.measures.code()
        self.late = runtime_context.get_metrics_group().counter(LATE_RECORDS)
        self.waiting: MapState[int, list[Row]] = runtime_context.get_map_state(map_state("waiting"))
        self.progress: ValueState[Stored] = runtime_context.get_state(value_state("progress"))

    def close(self) -> None:
        """Close the functions of the program."""
        for function in self._functions():
            function.close()

    def _functions(self) -> Iterator[MatchFunction]:
        yield self.spec.measures
        yield from (test for test in self.spec.tests if test is not None)

    def wait(self, row: Row, time: int) -> None:
        """Keep a row until its time has come."""
        self.waiting.put(time, [*(self.waiting.get(time) or ()), row])

    def search(self, until: int, clock: int) -> list[Row]:
        """Return the matches that the waiting rows up to a time complete, and those that waited for the time to pass.

        Args:
            until: The last time whose rows have come, in ms.
            clock: The time up to which incomplete matches may have run out.
        """
        rows: list[tuple[Row, int]] = []
        for time, found in sorted((time, found) for time, found in self.waiting.items() if time <= until):
            self.waiting.remove(time)
            rows += [(row, time) for row in (sorted(found, key=self.order) if self.order else found)]
        return self.feed(rows, clock)

    def feed(self, rows: Iterable[tuple[Row, int]], clock: int) -> list[Row]:
        """Return the matches that rows complete, each with its time."""
        stored = self.progress.value()
        progress = Progress() if stored is None else Progress(*stored)
        matcher, within = self.matcher, self.spec.within_ms
        results: list[Row] = []
        for row, time in rows:
            results += [self.result(match, time) for match in matcher.add(progress, row, time)]
        while within is not None and progress.times and clock - progress.times[0] >= within:
            end = progress.times[0] + within
            results += [self.result(match, end) for match in matcher.advance(progress, end)]
        if progress.rows:
            self.progress.update((progress.rows, progress.times, progress.runs, progress.totals))
        elif stored is not None:
            self.progress.clear()
        return results

    def result(self, match: Match, time: int) -> Row:
        """Return the row of a match that is complete at a time."""
        rows, starts = match
        return self.measures(rows, starts, starts[-1], time, {})

    def next_end(self) -> int | None:
        """Return when the first incomplete match runs out; None if none does."""
        stored, within = self.progress.value(), self.spec.within_ms
        return None if stored is None or within is None else stored[1][0] + within


class MatchByRowtime(MatchRows):
    """Lets rows wait for the watermark; late ones are dropped."""

    def __init__(self, spec: MatchSpec, order: RowOrder | None, time: int) -> None:
        """Take the position of the rowtime column."""
        super().__init__(spec, order)
        self.time = time

    def process_element(self, value: Row, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Let a row wait."""
        service = ctx.timer_service()
        time = millis(value[self.time])
        if time > service.current_watermark():
            self.wait(value, time)
            service.register_event_time_timer(time)
        else:
            self.late.inc()
        return iter(())

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> list[Row]:
        """Search the rows up to the watermark."""
        service = ctx.timer_service()
        watermark = service.current_watermark()
        results = self.search(watermark, watermark)
        end = self.next_end()
        if end is not None:
            service.register_event_time_timer(end)
        return results


class MatchByProctime(MatchRows):
    """Takes rows as they come; those of the same millisecond wait for each other if they have an order."""

    def process_element(self, value: Row, ctx: KeyedProcessFunction.Context[Row]) -> list[Row]:
        """Search a row, or let it wait."""
        service = ctx.timer_service()
        now = service.current_processing_time()
        if self.order is not None:
            self.wait(value, now)
            service.register_processing_time_timer(now + 1)
            return []
        results = self.feed([(value, now)], now)
        self._register(service)
        return results

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> list[Row]:
        """Search the rows before a time."""
        service = ctx.timer_service()
        results = self.search(timestamp - 1, timestamp)
        self._register(service)
        return results

    def _register(self, service: TimerService) -> None:
        end = self.next_end()
        if end is not None:
            service.register_processing_time_timer(end)


def _test(code: Compiled) -> Test:
    return lambda rows, starts, end, totals: code(rows, starts, end, 0, totals)[0]
