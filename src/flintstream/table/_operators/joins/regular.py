"""Joins without bounds of time: they keep all rows of both sides, and work on blocks."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

from flintstream.compiled.joined import join_each
from flintstream.runtime.keys import freeze_key
from flintstream.runtime.operators.connected import KeyedCoProcessOperator
from flintstream.runtime.selectors import field_of, function_of
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.table._operators.joins.entries import entries_of
from flintstream.table._operators.joins.sides import LAST, Sides, SideSettings, has_null
from flintstream.table._operators.rows import map_state
from flintstream.table._types.row_kinds import DELETE, INSERT, RETRACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import NotRequired, Unpack

    from flintstream.contracts.functions import KeyedProcessFunction
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.state.backend import KeyedStateBackend
    from flintstream.table._operators.joins.entries import Entries, Entry
    from flintstream.table._operators.rows import Change, Row


class RegularJoin(Sides):
    """Keeps all rows of both sides, and emits each pair; rows without a partner with None if their side is outer.

    The state has, for each row of a side, the row, how often it is there, and how many partners it has.
    """

    def __init__(
        self,
        *,
        outer: tuple[bool, bool],
        changes: bool,
        batch: bool,
        ttls_ms: tuple[int, int] = (0, 0),
        **sides: Unpack[SideSettings],
    ) -> None:
        """Say which sides are outer, whether results are changes, and whether they wait for the end of the input.

        The rows of each side are forgotten after ``ttls_ms`` without a write; 0 keeps them.
        """
        super().__init__(**sides)
        self.outer = outer
        self.changes = changes
        self.batch = batch
        self.ttls_ms = ttls_ms

    def attach(self, state: KeyedStateBackend) -> None:
        """Declare the rows of both sides in a backend. Called after ``open``."""
        self.state = state
        sides = zip(("left", "right"), self.ttls_ms, strict=True)
        self.rows = tuple(entries_of(state, map_state(name, ttl_ms)) for name, ttl_ms in sides)
        self.pairs = self.test()
        plain = self.only_pairs and not (any(self.kinds) or self.changes)
        self.direct = [direct for rows in self.rows if plain and (direct := rows.direct()) is not None]
        """The rows of both sides, if they are in dictionaries, and no row is an update."""

    def join(
        self,
        rows: Iterable[tuple[Change, int]],
        key: Callable[[object], object],
        side: int,
        send: Callable[[list[Row], int], None],
        *,
        keeps: bool,
    ) -> None:
        """Join rows of one side with their times (ms), and call ``send`` with the results of each and its time.

        ``keeps`` says whether rows of the other side may come, and rows of this one are kept for them.
        """
        mine, others = self.rows[side], self.rows[1 - side]
        kinds, width = self.kinds[side], self.keys
        partners, keep = self.partners, mine.change
        meet, entries_of_key = self.meet, others.of if self.only_pairs else None
        kind = INSERT
        for value, time in rows:
            row: Row = value
            if kinds:
                row, kind = value[:-1], value[-1]
            k = key(value)
            if k is None or (width != 1 and has_null(k, width)):
                send(self.alone(row, kind, side), time)
                continue
            if entries_of_key is None:
                found, results = partners(k, row, kind, side, others)
            else:
                entries = entries_of_key(k)
                found, results = meet(entries, row, kind, side) if entries else (0, [])
            if keeps:
                keep(k, row, -1 if kind in RETRACTIONS else 1, found)
            if results:
                send(results, time)

    def collect(
        self, rows: Iterable[Change], key: Callable[[object], object], side: int, timers: InternalTimerService
    ) -> list[Row]:
        """Keep rows of one side until the end of the input, and return the results of those that join nothing."""
        keep, kinds, results = self.rows[side].change, self.kinds[side], []
        keys: dict[object, None] = {}
        kind = INSERT
        for value in rows:
            row: Row = value
            if kinds:
                row, kind = value[:-1], value[-1]
            k = key(value)
            if has_null(k, self.keys):
                results += self.alone(row, kind, side)
                continue
            keys[k] = None
            keep(k, row, -1 if kind in RETRACTIONS else 1, 0)
        for k in keys:
            timers.register_event_time(LAST, k)
        return results

    def alone(self, row: Row, kind: int, side: int) -> list[Row]:
        """Return the result for a row that can have no partner."""
        return [self.result(row, self.nulls[1 - side], side, kind)] if self.outer[side] else []

    def result(self, row: Row, other: Row, side: int, kind: int) -> Row:
        """Return a pair with its kind of change."""
        pair = row + other if side == 0 else other + row
        return (*pair, kind) if self.changes else pair

    @property
    def only_pairs(self) -> bool:
        """Whether a row without a partner has no result."""
        return not any(self.outer)

    def meet(self, entries: Mapping[object, Entry], row: Row, kind: int, side: int) -> tuple[int, list[Row]]:
        """Return how many partners a row has, and the changes of the pairs."""
        holds, changes, first = self.pairs, self.changes, side == 0
        results: list[Row] = []
        total = 0
        for other, count, _ in entries.values():
            pair = row + other if first else other + row
            if holds is None or holds(pair) is True:
                total += count
                if changes:
                    pair = (*pair, kind)
                if count == 1:
                    results.append(pair)
                else:
                    results += [pair] * count
        return total, results

    def partners(self, key: object, row: Row, kind: int, side: int, others: Entries) -> tuple[int, list[Row]]:
        """Return how many partners a row has, and the changes of the results."""
        holds, first = self.pairs, side == 0
        results: list[Row] = []
        total = 0
        entries = others.of(key)
        removed = int(kind in RETRACTIONS)
        kind = DELETE if removed else INSERT  # updates of a join with an outer side are deletions and insertions
        counted = self.outer[1 - side]
        changed = []
        for place, (other, count, known) in entries.items():
            pair = row + other if first else other + row
            if holds is not None and holds(pair) is not True:
                continue
            total += count
            pairs = [(*pair, kind)] * count
            if not counted:
                results += pairs
                continue
            if known == removed:  # it gets its first partner, or loses its last one
                alone = [self.result(other, self.nulls[side], 1 - side, INSERT if removed else DELETE)] * count
                results += [*pairs, *alone] if removed else [*alone, *pairs]
            else:
                results += pairs
            changed.append((place, (other, count, known - 1 if removed else known + 1)))
        for place, entry in changed:
            others.put(key, place, entry)
        if self.outer[side] and not total:
            results.append(self.result(row, self.nulls[1 - side], side, kind))
        return total, results

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the results of a complete key."""
        key = self.state.key
        sides = [list(item.of(key).values()) for item in self.rows]
        holds, matched = self.pairs, set()
        for row, count, _ in sides[0]:
            lonely = True
            for i, (other, others, _) in enumerate(sides[1]):
                pair = row + other
                if holds is None or holds(pair) is True:
                    lonely = False
                    matched.add(i)
                    yield from repeat(self.result(row, other, 0, INSERT), count * others)
            if lonely and self.outer[0]:
                yield from repeat(self.result(row, self.nulls[1], 0, INSERT), count)
        if self.outer[1]:
            for i, (other, count, _) in enumerate(sides[1]):
                if i not in matched:
                    yield from repeat(self.result(other, self.nulls[0], 1, INSERT), count)


class _JoinSettings(SideSettings):
    changes: bool
    batch: bool
    ttls_ms: NotRequired[tuple[int, int]]


class SemiJoin(RegularJoin):
    """Emits the left rows that have a partner; if ``anti``, those that have none."""

    def __init__(self, *, anti: bool, **settings: Unpack[_JoinSettings]) -> None:
        """Say which rows are wanted."""
        super().__init__(outer=(anti, False), **settings)
        self.anti = anti

    def one(self, row: Row, kind: int) -> Row:
        """Return a left row as result."""
        return (*row, kind) if self.changes else row

    def alone(self, row: Row, kind: int, side: int) -> list[Row]:
        """Return the result for a row that can have no partner."""
        return [self.one(row, kind)] if self.anti and side == 0 else []

    @property
    def only_pairs(self) -> bool:
        """Return False: results are rows of one side."""
        return False

    def partners(self, key: object, row: Row, kind: int, side: int, others: Entries) -> tuple[int, list[Row]]:
        """Return how many partners a row has, and the changes of the results."""
        holds, first, removed = self.pairs, side == 0, int(kind in RETRACTIONS)
        results: list[Row] = []
        changed = []
        total = 0
        for place, (other, count, known) in others.of(key).items():
            if holds is not None and holds(row + other if first else other + row) is not True:
                continue
            total += count
            if not first:
                if known == removed:
                    results += [self.one(other, INSERT if bool(removed) == self.anti else DELETE)] * count
                changed.append((place, (other, count, known - 1 if removed else known + 1)))
        for place, entry in changed:
            others.put(key, place, entry)
        if first and (total > 0) != self.anti:
            results.append(self.one(row, kind))
        return total, results

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[Row]) -> Iterator[Row]:
        """Emit the results of a complete key."""
        key, holds = self.state.key, self.pairs
        others = [item[0] for item in self.rows[1].of(key).values()]
        for row, count, _ in self.rows[0].of(key).values():
            if any(holds is None or holds(row + other) is True for other in others) != self.anti:
                yield from repeat(self.one(row, INSERT), count)


class JoinOfBlocks(KeyedCoProcessOperator):
    """Runs a :class:`RegularJoin` over blocks.

    After the last row of one side, rows of the other one meet all that there are, and no later row meets them. So they
    are not kept.
    """

    takes_any_order = True

    def __init__(
        self,
        function: RegularJoin,
        selector1: Callable[[object], object],
        selector2: Callable[[object], object],
        *,
        ends: tuple[bool, bool],
    ) -> None:
        """Take what the base does, and which sides have no row after their event time has ended."""
        super().__init__(function, selector1, selector2)
        self.ends = ends
        self.is_over: Callable[[int], bool] | None = None
        self.draining = False
        self.by_block = False
        """Whether blocks of a bounded join have rows of several keys."""
        self.last_side: int | None = None
        """The side that comes after all rows of the other one."""

    def begin_block(self, number: int, *, last: bool) -> None:
        """Note that rows come by block, and whether the other side is complete."""
        self.by_block = True
        self.last_side = number if last else None

    def on_inputs(self, is_over: Callable[[int], bool]) -> None:
        """Learn how to ask whether the event time of an input has ended."""
        self.is_over = is_over

    def begin_epoch(self, epoch: Epoch, given: Sequence[object]) -> None:
        """Note whether event time ends before its sources do, as when a job is drained."""
        super().begin_epoch(epoch, given)
        self.draining = epoch.drain

    def _is_alone(self, side: int) -> bool:
        """Return whether no row of the other side will come."""
        return self.ends[1 - side] and not self.draining and self.is_over is not None and self.is_over(1 - side)

    def open(self) -> None:
        """Open the function, and give it the state."""
        super().open()
        self.function.attach(self.state)

    def process(self, values: list[Change], timestamps: list[int] | None) -> None:
        """Process a block of the first stream."""
        self._join(values, timestamps, 0, self.key)

    def process_second(self, values: list[Change], timestamps: list[int] | None) -> None:
        """Process a block of the second stream."""
        self._join(values, timestamps, 1, self.key2)

    def _join(self, values: list[Change], timestamps: list[int] | None, side: int, key: object) -> None:
        function = self.function
        keep = not (function.only_pairs and (self._is_alone(side) or self.last_side == side))
        results: list[Row] = []
        stamps: list[int] = []
        selector = (self.selector, self.selector2)[side]
        at_once = not function.batch or (self.by_block and function.only_pairs and not any(function.kinds))
        compiled = at_once and len(function.direct) == 2 and key is selector

        def send(found: list[Row], time: int) -> None:
            results.extend(found)
            stamps.extend(repeat(time, len(found)))

        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            if compiled:
                mine, others = function.direct[side], function.direct[1 - side]
                kept = mine.values if keep else None
                selector = function_of(selector)
                join_each(
                    *(cursor, timestamps, selector, field_of(selector), function.keys != 1, kept, others.values),
                    *(mine.changes(), function.pairs, side == 0, freeze_key, results, stamps),
                )
            elif not at_once:
                results = function.collect(cursor, key, side, self.timers)
                stamps = [MIN_TIMESTAMP] * len(results)
            else:
                times = repeat(MIN_TIMESTAMP) if timestamps is None else timestamps
                function.join(zip(cursor, times, strict=False), key, side, send, keeps=keep)
        except BaseException as error:
            raise self.failure(error, values) from error
        self.send(results, None if timestamps is None else stamps)
