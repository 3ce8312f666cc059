"""Run a user's :class:`~flintstream.datastream.functions.SourceFunction`, which pushes records, as a source."""

from __future__ import annotations

import copy
import os
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.common._user_code.forks import leave_if_forked, only_one_returns
from flintstream.connectors.source import (
    Boundedness,
    Source,
    SourceReader,
    SourceSplit,
    SourceWatermark,
    StaticEnumerator,
    Timestamped,
)
from flintstream.contracts.functions import SourceFunction
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from typing_extensions import Self

    from flintstream.connectors.source import Fetch, SplitEnumerator
    from flintstream.contracts.functions import RuntimeContext

Batch = list[Any] | Timestamped | SourceWatermark

MOST_WAITING = 10_000
"""Number of buffered records at which the function has to wait for the reader."""

END_SECONDS = 10.0
"""How long a cancelled function may take to return."""


@record
@dataclass
class FunctionSplit(SourceSplit):
    """A copy of a function, and its progress."""

    index: int
    count: int
    state: object = None
    taken: int = 0
    """How often records were taken from it. A copy in this process with a different number is out of date."""
    left: deque[Batch] = field(default_factory=deque)
    """Records that were taken from the function and not yet emitted."""


class FunctionInput(Source):
    """A source function as a source."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, function: SourceFunction) -> None:
        """Run ``function`` in one subtask, or in all of them if it is parallel.

        Raises:
            PlanError: The function has only one of ``snapshot_state`` and ``restore_state``.
        """
        own, base = type(function), SourceFunction
        self.stateful = own.snapshot_state is not base.snapshot_state
        if self.stateful != (own.restore_state is not base.restore_state):
            raise PlanError(f"{own.__name__} must define both snapshot_state() and restore_state(), or neither")
        self.function = function

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return an enumerator with one split per copy of the function: one, or one per subtask."""
        count = parallelism if self.function.parallel else 1
        return StaticEnumerator([FunctionSplit(str(index), index, count) for index in range(count)])

    def create_reader(self) -> SourceReader:
        """Return a reader, which runs the copies of a subtask."""
        return FunctionReader(self)


class _CancelledError(BaseException):
    """Ends the thread of a function that emits after its reader was closed."""


class SourceContext:
    """The argument of ``run``: collects records, and is the lock under which records and state change together."""

    def __init__(self, split: FunctionSplit, *, stateful: bool) -> None:
        """Create a context without records."""
        self.index = split.index
        """Index of this copy of the function, from 0. It stays the same when the parallelism changes."""
        self.count = split.count
        """Number of copies."""
        self._stateful = stateful
        self._changed = threading.Condition(threading.RLock())
        self._depth = 0
        self._batches: deque[Batch] = deque()
        self._waiting = 0
        self._watermark: int | None = None
        self._cancelled = False
        self._owner = os.getpid()

    def __enter__(self) -> Self:
        """Acquire the lock; wait while the buffer is full."""
        leave_if_forked(self._owner)
        self._changed.acquire()
        # Wait only here: a wait releases the lock, and inside the lock records and state must not be separated.
        while not self._depth and self._waiting >= MOST_WAITING and not self._cancelled:
            self._changed.wait()
        if self._cancelled:
            self._changed.release()
            raise _CancelledError
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self._depth -= 1
        self._changed.release()

    def get_checkpoint_lock(self) -> SourceContext:
        """Return the lock, for ``with``. State belongs to the records that are collected under the same lock."""
        return self

    def collect(self, value: Any) -> None:
        """Emit a record without a timestamp."""
        with self._check():
            if not self._batches or not isinstance(self._batches[-1], list):
                self._batches.append([])
            self._batches[-1].append(value)  # type: ignore[union-attr]
            self._waiting += 1

    def collect_with_timestamp(self, value: Any, timestamp: int) -> None:
        """Emit a record with a timestamp (ms since the epoch)."""
        with self._check():
            if not self._batches or not isinstance(self._batches[-1], Timestamped):
                self._batches.append(Timestamped([], []))
            batch = self._batches[-1]
            assert isinstance(batch, Timestamped)  # noqa: S101
            batch.values.append(value)
            batch.timestamps.append(timestamp)
            self._waiting += 1

    def emit_watermark(self, watermark: Any) -> None:
        """Declare that all further records are later than ``watermark``: a number (ms) or a ``Watermark``."""
        timestamp = int(getattr(watermark, "timestamp", watermark))
        with self._check():
            if self._watermark is None or timestamp > self._watermark:
                self._watermark = timestamp
                self._batches.append(SourceWatermark(timestamp))
                self._waiting += 1

    def _check(self) -> SourceContext:
        if self._stateful and not self._depth:
            raise PlanError(
                "a SourceFunction with snapshot_state() must hold the lock while it collects a record and changes what "
                "snapshot_state() returns: with ctx.get_checkpoint_lock(): ..."
            )
        return self


class _Run:
    """A copy of a function, running in a thread."""

    def __init__(self, source: FunctionInput, split: FunctionSplit, context: RuntimeContext) -> None:
        self._function = copy.deepcopy(source.function)
        self._stateful = source.stateful
        self.taken = split.taken
        self._failure: BaseException | None = None
        self._function.open(context)
        if self._stateful and split.taken:
            self._function.restore_state(split.state)
        self._context = SourceContext(split, stateful=self._stateful)
        self._thread = threading.Thread(target=self._run, name=f"flintstream-source-{split.split_id}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with only_one_returns():
                self._function.run(self._context)
        except _CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - the reader raises it in the task
            self._failure = error

    def take(self, split: FunctionSplit) -> bool:
        """Move the collected records and the matching state into the split; return whether the function has ended."""
        context = self._context
        over = not self._thread.is_alive()
        with context._changed:
            if context._batches:
                split.left, context._batches = context._batches, deque()
                context._waiting = 0
                split.state = copy.deepcopy(self._function.snapshot_state()) if self._stateful else None
                self.taken += 1
                split.taken = self.taken
                context._changed.notify_all()
                return False
        if over and self._failure is not None:
            raise self._failure
        return over

    def close(self) -> None:
        self._function.cancel()
        with self._context._changed:
            self._context._cancelled = True
            self._context._changed.notify_all()
        self._thread.join(END_SECONDS)
        self._function.close()


class FunctionReader(SourceReader):
    """Runs the copies of a subtask."""

    gives_away = False

    def __init__(self, source: FunctionInput) -> None:
        """Run the function of ``source``."""
        self._source = source
        self._runs: dict[str, _Run] = {}

    def open(self, runtime_context: RuntimeContext) -> None:
        """Remember the context for the functions."""
        self._context = runtime_context

    def read(self, split: FunctionSplit, fetch: Fetch) -> Generator[Batch, None, bool]:
        """Yield the records that the function has collected."""
        run = self._runs.get(split.split_id)
        if run is not None and run.taken != split.taken:  # the job was restored, or the split ran elsewhere
            run.close()
            run = None
        if run is None:
            run = self._runs[split.split_id] = _Run(self._source, split, self._context)
        while True:
            while split.left:
                yield split.left.popleft()
            over = run.take(split)
            if not split.left:
                return over

    def progress(self, splits: Sequence[Any]) -> object | None:
        """Return None: the enumerator needs no progress."""
        return None

    def close(self) -> None:
        """Cancel the functions."""
        while self._runs:
            self._runs.popitem()[1].close()
