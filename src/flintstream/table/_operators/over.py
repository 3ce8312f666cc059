"""Aggregates over the rows before each row of a key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from flintstream.contracts.functions import KeyedProcessFunction
from flintstream.runtime.windows.operator import LATE_RECORDS
from flintstream.table._expressions.times.helpers import millis
from flintstream.table._operators.joins.sides import LAST
from flintstream.table._operators.rows import map_state, value_state
from flintstream.table._types.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, is_insert_like

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Unpack

    from flintstream.contracts.state import MapState, ValueState
    from flintstream.contracts.timers import TimerService
    from flintstream.table._operators.rows import Change, Row

    Timed = tuple[int, Row]
    Known = tuple[object, list[Timed], int, int]
    """The aggregates, the rows in the frame with their times, the number of rows so far, and the last time."""
    from collections.abc import Iterator, Sequence

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.table._expressions.aggregation.code import Aggregation
    from flintstream.table._operators.ordering import RowOrder, Sorted


@dataclass(frozen=True)
class Frame:
    """Which rows around each row count: from ``before`` to ``after``, by number of rows, or by distance of values."""

    rows: bool
    before: int | None
    """How many rows (or how far) before the current one; None for all, negative for rows after it."""
    after: int | None = 0
    """The same, after it."""


@dataclass(frozen=True)
class Position:
    """A function of the position of a row, such as ROW_NUMBER, NTILE or LAG."""

    name: str
    argument: int = 0
    offset: int = 1
    default: object = None


class _Settings(TypedDict):
    aggregation: Aggregation
    frame: Frame
    positions: Sequence[Position]
    width: int
    ttl_ms: NotRequired[int]


class Over(KeyedProcessFunction):
    """What the functions over a key share: they append results to the first ``width`` columns of a row."""

    def __init__(
        self, aggregation: Aggregation, frame: Frame, positions: Sequence[Position], width: int, ttl_ms: int = 0
    ) -> None:
        """Take the code of the aggregates, the rows that count, and functions of positions."""
        self.aggregation, self.frame, self.positions, self.width = aggregation, frame, tuple(positions), width
        self.ttl_ms = ttl_ms
        self.lag = max((position.offset for position in positions if position.name == "LAG"), default=0)

    def open(self, runtime_context: RuntimeContext) -> None:
        """Compile the aggregates, and open those of the program."""
        self.aggregation.open(runtime_context)
        code = self.aggregation.compile_code()
        self.start, self.add, self.remove, self.result = (code[n] for n in ("start", "add", "remove", "result"))

    def close(self) -> None:
        """Close the functions of the program."""
        self.aggregation.close()

    def append_results(self, row: Row, aggregates: Row, positions: Sequence[object]) -> Row:
        """Return the result for a row."""
        return (*row[: self.width], *aggregates, *positions)


class OverStream(Over):
    """Emits each row when its time has come, with the aggregates of it and the rows before it.

    With event time, rows wait until the watermark has passed them, and are then in order; late ones are dropped.
    """

    def __init__(
        self, *, time: int, event_time: bool, order: RowOrder | None = None, **settings: Unpack[_Settings]
    ) -> None:
        """Take the position of the time column, and the order of rows of the same time, by default that of arrival."""
        super().__init__(**settings)
        self.time, self.event_time, self.order = time, event_time, order

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the rows that wait, and what those before leave: aggregates, rows in the frame, number and time."""
        super().open(runtime_context)
        self.late = runtime_context.get_metrics_group().counter(LATE_RECORDS)
        self.waiting: MapState[int, list[Row]] = runtime_context.get_map_state(map_state("waiting"))
        self.known: ValueState[Known] = runtime_context.get_state(value_state("known", self.ttl_ms))
        self.cleanup: ValueState[int] = runtime_context.get_state(value_state("cleanup"))
        """When the rows of a frame by distance are forgotten, and with them what is late."""
        self.ranks: ValueState[int] | None = None
        if any(position.name == "DENSE_RANK" for position in self.positions):
            self.ranks = runtime_context.get_state(value_state("ranks", self.ttl_ms))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Let a row wait, or emit it."""
        service = ctx.timer_service()
        if not self.event_time:
            return iter(self.emit_rows([value], service.current_processing_time(), service))
        time = millis(value[self.time])
        last = service.current_watermark()
        if self.frame.before is not None:  # late is then what comes after a later row of the key has been emitted
            known = self.known.value()
            last = time - 1 if known is None else known[3]
        if time > last:
            self.waiting.put(time, [*(self.waiting.get(time) or ()), value])
            service.register_event_time_timer(time)
            before = self.frame.before
            cleanup = self.cleanup.value() if self.forgets else None
            if self.forgets and before is not None and (cleanup is None or cleanup < time + before + 1):
                service.register_event_time_timer(time + int(before * 1.5) + 1)
                self.cleanup.update(time + int(before * 1.5) + 1)
        else:
            self.late.inc()
        return iter(())

    @property
    def forgets(self) -> bool:
        """Whether rows leave as the watermark rises."""
        return self.event_time and not self.frame.rows and self.frame.before is not None

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the rows of a time, and forget those that are out of the frame."""
        cleanup = self.cleanup.value() if self.forgets else None
        if cleanup is not None and cleanup <= timestamp:
            for state in (self.waiting, self.known, self.cleanup):
                state.clear()
            if self.ranks is not None:
                self.ranks.clear()
            return
        rows = self.waiting.get(timestamp)
        if rows:
            self.waiting.remove(timestamp)
            if self.order is not None:
                rows = sorted(rows, key=self.order)
            yield from self.emit_rows(rows, timestamp, ctx.timer_service())
            return
        known = self.known.value()
        if known is not None and self.frame.before is not None and not self.frame.rows:
            aggregates, kept, count, last = known
            if self.event_time:  # an older timer of the clean-up, which moves what is late as in Flink
                self.known.update((aggregates, kept, count, timestamp))
                return
            kept = self.forgotten(aggregates, kept, timestamp - self.frame.before)
            self.known.update((aggregates, kept, count, last))
            if not kept and not self.positions:
                self.known.clear()

    def forgotten(self, aggregates: object, kept: list[Timed], least: int) -> list[Timed]:
        """Take rows before a time out of the aggregates."""
        gone = 0
        while gone < len(kept) and kept[gone][0] < least:
            self.remove(kept[gone][1], aggregates)
            gone += 1
        return kept[gone:]

    def emit_rows(self, rows: list[Row], time: int, service: TimerService) -> list[Row]:
        """Return the results of rows of one time."""
        aggregates, kept, count, _ = self.known.value() or (self.start(), [], 0, time)
        before = self.frame.before
        bounded = before is not None
        kept = list(kept)
        results: list[Row] = []
        waiting: list[tuple[Row, list[object]]] = []
        if not self.frame.rows and bounded:
            kept = self.forgotten(aggregates, kept, time - (before or 0))
        dense, rank = 0 if self.ranks is None else self.ranks.value() or 0, count + 1
        peer: Row | None = None
        for row in rows:
            self.add(row, aggregates)
            if peer is None or (self.order is not None and self.order(row) != self.order(peer)):
                dense, rank = dense + 1, count + 1
            peer = row
            numbers = (count + 1, rank, dense)
            positions = [self.position(position, row, kept, numbers) for position in self.positions]
            count += 1
            if bounded or self.lag:
                kept.append((time, row))
            if self.frame.rows:
                if before is not None and count > before + 1 and len(kept) > before + 1:
                    self.remove(kept[-before - 2][1], aggregates)
                results.append(self.append_results(row, self.result(aggregates), positions))
                kept = kept[-max((before or 0) + 1, self.lag) :] if bounded or self.lag else kept
            else:
                waiting.append((row, positions))
        if not self.frame.rows:
            whole = self.result(aggregates)
            results = [self.append_results(row, whole, positions) for row, positions in waiting]
            if not bounded and self.lag:
                kept = kept[-self.lag :]
            if before is not None and not self.event_time:
                service.register_processing_time_timer(time + before + 1)
        self.known.update((aggregates, kept, count, time))
        if self.ranks is not None:
            self.ranks.update(dense)
        return results

    def position(self, function: Position, row: Row, kept: list[Timed], numbers: tuple[int, int, int]) -> object:
        """Return the value of a function of the position; the numbers are ROW_NUMBER, RANK and DENSE_RANK."""
        if function.name != "LAG":
            return numbers[("ROW_NUMBER", "RANK", "DENSE_RANK").index(function.name)]
        if not function.offset:
            return row[function.argument]
        return kept[-function.offset][1][function.argument] if len(kept) >= function.offset else function.default


class OverBatch(Over):
    """Sorts all rows of a key, and emits each with the aggregates of its frame."""

    def __init__(self, *, order: RowOrder, first: Sorted, **settings: Unpack[_Settings]) -> None:
        """Take the order, and its first column, whose distances a frame by RANGE means."""
        super().__init__(**settings)
        self.order, self.distance, self.descending = order, first.index, first.descending
        self.none = float("-inf") if first.none_first else float("inf")

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the rows by the order in which they came."""
        super().open(runtime_context)
        self.rows: MapState[int, Row] = runtime_context.get_map_state(map_state("rows"))
        self.count: ValueState[int] = runtime_context.get_state(value_state("count"))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Keep a row."""
        count = self.count.value() or 0
        self.rows.put(count, value)
        self.count.update(count + 1)
        ctx.timer_service().register_event_time_timer(LAST)
        return iter(())

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit all rows."""
        return self.results(sorted((row for _, row in sorted(self.rows.items())), key=self.order))

    def results(self, rows: list[Row]) -> Iterator[Row]:
        """Yield the results for sorted rows."""
        keys = [self.order(row) for row in rows]
        distances = self.distances(rows)
        low = high = 0
        aggregates = self.start()
        dense = 0
        for i, row in enumerate(rows):
            dense += i == 0 or keys[i] != keys[i - 1]
            first, end = self.bounds(i, keys, distances)
            if first < low or end < high or first >= high:
                aggregates, low, high = self.start(), first, first
            while high < end:
                self.add(rows[high], aggregates)
                high += 1
            while low < first:
                self.remove(rows[low], aggregates)
                low += 1
            positions = [
                self.position(position, rows, i, (bisect_left(keys, keys[i]) + 1, bisect_right(keys, keys[i])), dense)
                for position in self.positions
            ]
            yield self.append_results(row, self.result(aggregates), positions)

    def distances(self, rows: list[Row]) -> list[float] | None:
        """Return numbers whose differences a frame by RANGE limits, in ascending order; None if there are no limits."""
        frame = self.frame
        if frame.rows or (frame.before in {None, 0} and frame.after in {None, 0}):
            return None
        found = []
        for row in rows:
            value = row[self.distance]
            number = value if isinstance(value, (int, float)) or value is None else _number(value)
            found.append(self.none if number is None else -number if self.descending else number)
        return found

    def bounds(self, i: int, keys: list[Row], distances: list[float] | None) -> tuple[int, int]:
        """Return the first row of a frame, and the one after its last."""
        before, after, count = self.frame.before, self.frame.after, len(keys)
        if self.frame.rows:
            first = 0 if before is None else max(i - before, 0)
            return first, count if after is None else max(min(i + after + 1, count), first)
        if distances is None:
            first = 0 if before is None else bisect_left(keys, keys[i])
            return first, count if after is None else bisect_right(keys, keys[i])
        first = 0 if before is None else bisect_left(distances, distances[i] - before)
        return first, count if after is None else bisect_right(distances, distances[i] + after)

    def position(self, function: Position, rows: list[Row], i: int, peers: tuple[int, int], dense: int) -> object:
        """Return the value of a function of the position; rows with the same order are peers, first and last from 1."""
        if function.name in {"LAG", "LEAD"}:
            other = i - function.offset if function.name == "LAG" else i + function.offset
            return rows[other][function.argument] if 0 <= other < len(rows) else function.default
        (rank, last), count = peers, len(rows)
        if function.name == "NTILE":
            size, larger = divmod(count, function.offset)
            end = larger * (size + 1)
            return i // (size + 1) + 1 if i < end else larger + (i - end) // size + 1
        if function.name == "PERCENT_RANK":
            return (rank - 1) / (count - 1) if count > 1 else 0.0
        return {"ROW_NUMBER": i + 1, "RANK": rank, "DENSE_RANK": dense, "CUME_DIST": last / count}[function.name]


def _number(value: Any) -> Any:
    return millis(value) if hasattr(value, "year") else value


class _BatchSettings(_Settings):
    order: RowOrder
    first: Sorted


class OverChanges(OverBatch):
    """Keeps the rows of a key sorted, and emits what each change of them changes of the results."""

    def __init__(self, changelog: bool, **settings: Unpack[_BatchSettings]) -> None:
        """Take whether records end with a kind of change, as results do."""
        super().__init__(**settings)
        self.changelog = changelog

    def open(self, runtime_context: RuntimeContext) -> None:
        """Declare the sorted rows."""
        super().open(runtime_context)
        self.sorted: ValueState[list[Row]] = runtime_context.get_state(value_state("sorted", self.ttl_ms))

    def process_element(self, value: Change, ctx: KeyedProcessFunction.Context[Row]) -> Iterator[Row]:
        """Emit the changes of all results."""
        row, kind = (value[:-1], value[-1]) if self.changelog else (value, INSERT)
        old = self.sorted.value() or []
        if not is_insert_like(kind):
            if row not in old:
                return
            place = old.index(row)
            new = [*old[:place], *old[place + 1 :]]
        else:
            place = bisect_right(old, self.order(row), key=self.order)
            new = [*old[:place], row, *old[place:]]
        before, after = list(self.results(old)), list(self.results(new))
        if len(new) > len(old):
            yield (*after.pop(place), INSERT)
        else:
            yield (*before.pop(place), DELETE)
        for first, second in zip(before, after, strict=True):
            if first != second:
                yield (*first, UPDATE_BEFORE)
                yield (*second, UPDATE_AFTER)
        self.sorted.update(new)
