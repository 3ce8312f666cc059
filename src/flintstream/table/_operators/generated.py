"""Operators that run the code of projections and filters."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from operator import itemgetter, length_hint
from typing import TYPE_CHECKING, Any

from flintstream.runtime.operators.functions import FunctionOperator
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.table._expressions.codegen import Source, compile_source, source
from flintstream.table._expressions.expr import Call, Invocation, Ref
from flintstream.table._expressions.times.helpers import CurrentWatermark
from flintstream.table._functions.awaiting import AsyncRows, Loop
from flintstream.table._operators.field_rows import FieldLoop
from flintstream.table._operators.opening import close_all, open_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._operators.field_rows import Rows as Made
    from flintstream.table._operators.opening import Opened


def awaiting_operator(projection: Sequence[Expr] | None, condition: Expr | None) -> AwaitingOperator:
    """Return the operator of a filter and a projection that await several rows together.

    They await one at a time if an expression has other results when rows change places.
    """
    plain, stamped = (source(projection, condition, stamped=stamped, awaits=True) for stamped in (False, True))
    calls = _calls([*(projection or ()), *(() if condition is None else (condition,))])
    return AwaitingOperator(plain, stamped, in_turn=any(map(_depends_on_order, calls)))


def _calls(expressions: Sequence[Expr]) -> Iterator[Call]:
    waiting = list(expressions)
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call):
            yield part
            waiting += part.arguments


def _is_awaited(call: Call) -> bool:
    return (
        isinstance(call, Invocation)
        and call.function is not None
        and isinstance(call.function.implementation, AsyncRows)
    )


def _depends_on_order(call: Call) -> bool:
    if isinstance(call, Invocation) and call.function is not None:
        return not call.function._deterministic and not _is_awaited(call)
    return call.name in {"RAND", "RAND_INTEGER"}


class Functions:
    """Opens and closes the Python functions of generated code."""

    def __init__(self, functions: Iterable[Opened]) -> None:
        self.functions = tuple(functions)

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open all functions."""
        open_all(self.functions, runtime_context)

    def close(self) -> None:
        """Close all functions."""
        close_all(self.functions)


@dataclass(frozen=True)
class PickSource(Source):
    """Code that only picks columns of rows, and their positions: two or more."""

    positions: tuple[int, ...]


def with_picks(plain: Source, projection: Sequence[Expr] | None, condition: Expr | None) -> Source:
    """Return the code of a projection and a filter with its positions, if it only picks columns."""
    positions = tuple(item.index for item in projection or () if isinstance(item, Ref))
    if condition is not None or len(positions) < 2 or len(positions) < len(projection or ()):
        return plain
    return PickSource(plain.text, plain.names, plain.functions, positions)


class PickLoop:
    """Picks columns of the rows of a block."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        """Take the positions of the columns."""
        self._pick = itemgetter(*positions)

    def run(self, values: list[object], timestamps: list[int] | None) -> Made:
        """Return the results and their timestamps."""
        return list(map(self._pick, values)), timestamps  # type: ignore[arg-type]


class GeneratedOperator(FunctionOperator):
    """Runs generated code over blocks of tuples."""

    def __init__(self, plain: Source, stamped: Source) -> None:
        """Take the code for records without timestamps and with them."""
        super().__init__(Functions(plain.functions))
        self._sources = (plain, stamped)
        self._compiled: dict[bool, Any] = {}
        self._loops: dict[bool, FieldLoop | PickLoop] = {}
        names = (name for one in self._sources for name in one.names.values())
        self._watermarks = [name for name in names if isinstance(name, CurrentWatermark)]

    def process_watermark(self, timestamp: int) -> None:
        """Show the watermark to CURRENT_WATERMARK, and forward it."""
        for one in self._watermarks:
            one.ms = timestamp
        super().process_watermark(timestamp)

    def restore_watermark(self, timestamp: int) -> None:
        """Show the restored watermark to CURRENT_WATERMARK."""
        for one in self._watermarks:
            one.ms = timestamp if timestamp > MIN_TIMESTAMP else None
        super().restore_watermark(timestamp)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the compiled code."""
        return {**self.__dict__, "_compiled": {}, "_loops": {}}

    def process(self, values: list[object], timestamps: list[int] | None) -> None:
        """Process a block."""
        stamped = timestamps is not None
        loop = self._loops.get(stamped)
        if loop is None:
            code = self._sources[stamped]
            loop = PickLoop(code.positions) if isinstance(code, PickSource) else FieldLoop(code)
            self._loops[stamped] = loop
        made = loop.run(values, timestamps)
        if made is not None:
            if made[0]:
                self.output.emit(*made)
            return
        run = self._compiled.get(stamped)
        if run is None:
            run = self._compiled[stamped] = compile_source(self._sources[stamped])
        results: list[Any] = []
        stamps: list[int] = []
        self.cursor = self.interrupter.cursor = cursor = iter(values)
        try:
            if timestamps is None:
                run(cursor, results.append)
            else:
                run(zip(cursor, timestamps, strict=False), results.append, stamps.append)
        except BaseException as error:
            raise self.failure(error, values) from error
        if results:
            self.output.emit(results, stamps if stamped else None)


class AwaitingOperator(GeneratedOperator):
    """Runs a coroutine for each row of a block, for several rows at a time.

    Results are in the order of the rows. A block ends when all of its rows have results, so nothing overtakes a row,
    and a snapshot finds none that waits.
    """

    def __init__(self, plain: Source, stamped: Source, *, in_turn: bool) -> None:
        """Take the code for records without timestamps and with them, and whether each row waits for the last one."""
        super().__init__(plain, stamped)
        self._in_turn = in_turn
        self._loop = Loop()

    def close(self) -> None:
        """Close the functions, and the loop in which they have been awaited."""
        try:
            super().close()
        finally:
            self._loop.close()

    def process(self, values: list[object], timestamps: list[int] | None) -> None:
        """Process a block."""
        stamped = timestamps is not None
        run = self._compiled.get(stamped)
        if run is None:
            run = self._compiled[stamped] = compile_source(self._sources[stamped])
        self.cursor = self.interrupter.cursor = iter(values)
        rows = Rows(run, self.cursor, timestamps)
        try:
            self._loop.run(rows.await_all(self._capacity()))
        except BaseException as error:
            left = len(values) - len(self.interrupter.rest)
            if rows.failed is not None:
                self.cursor = iter(values[rows.failed + 1 : left])  # the record of the failure is the last one read
            raise self.failure(error, values) from error
        results = [result for made in rows.made for result in made]
        if results:
            self.output.emit(results, [stamp for made in rows.stamps for stamp in made] if stamped else None)

    def _capacity(self) -> int:
        calls = [one.calls.capacity for one in self.function.functions if isinstance(one, AsyncRows)]
        return 1 if self._in_turn else min(calls, default=1)


class Rows:
    """The rows of a block, of which several are awaited at a time."""

    def __init__(
        self, run: Callable[..., Awaitable[object]], values: Iterator[object], timestamps: list[int] | None
    ) -> None:
        """Take the coroutine function, the rows, and their timestamps."""
        self._run, self._timestamps = run, timestamps
        self._count = max(length_hint(values), 1)
        self._waiting = enumerate(values)
        self.made: list[list[object]] = []
        """What each row has led to: its result, or nothing."""
        self.stamps: list[list[int]] = []
        self.failed: int | None = None
        """The place of the first row that has failed."""
        self._error: BaseException | None = None
        self._workers: list[asyncio.Task[None]] = []
        self._places: list[int] = []
        """The place of the row that each worker awaits."""

    async def await_all(self, most: int) -> None:
        """Await all rows, at most so many at a time.

        Raises:
            BaseException: A row has failed: the one that would if each one waited for the last.
        """
        for number in range(min(most, self._count)):
            self._places.append(-1)
            worker = asyncio.ensure_future(self._work(number))
            worker.add_done_callback(partial(self._end, number))
            self._workers.append(worker)
        await asyncio.wait(self._workers)
        if self._error is not None:
            raise self._error

    async def _work(self, number: int) -> None:
        for place, value in self._waiting:
            self._places[number] = place
            made: list[object] = []
            stamps: list[int] = []
            self.made.append(made)
            self.stamps.append(stamps)
            if self._timestamps is None:
                await self._run((value,), made.append)
            else:
                await self._run(((value, self._timestamps[place]),), made.append, stamps.append)
            if self.failed is not None:
                return

    def _end(self, number: int, worker: asyncio.Task[None]) -> None:
        """Keep the failure of a row unless an earlier one has failed, and cancel later rows."""
        error = asyncio.CancelledError() if worker.cancelled() else worker.exception()
        place = self._places[number]
        if error is None or (self.failed is not None and self.failed < place):
            return
        self.failed, self._error = place, error
        for other, task in zip(self._places, self._workers, strict=True):
            if other > place:
                task.cancel()
