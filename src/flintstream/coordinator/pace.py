"""The pace of sources: how much they may read in an epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.runtime.block_size import LONGEST_WAIT_MS
from flintstream.runtime.operators.source import UNBOUNDED_EPOCH_MS

if TYPE_CHECKING:
    from flintstream.runtime.plan import JobPlan

SHORTEST_MS = 50
"""Approximate cost of an epoch that does nothing."""

FIRST_RECORDS = 1024
"""Initial limit on records, until the time that functions behind exchanges take per record is known."""

GROWTH = 64
"""Largest factor by which the limit on records grows from one epoch to the next."""

SPARE = 8
"""Factor by which the limit on records allows an epoch to exceed the target. The limit on time does the rest."""

WEIGHT = 0.25
"""Share of the last epoch in the averages over all epochs."""

LEAST_SPREAD = 0.1
"""Relative spread of the busy times below which they do not tell what an empty epoch costs."""

EXPLORED = 0.25
"""Share of the idle time of epochs for which sources read on, to learn what an empty epoch costs."""


class EmptyEpoch:
    """Estimates what an epoch costs if its subtasks have nothing to do: scheduling, instructions and reports.

    It fits a line through the busy times and durations of the epochs, with more weight on the last ones. The duration
    at a busy time of zero is the estimate. The slope is above 1 if subtasks share a core, so that they run in turn.

    >>> empty = EmptyEpoch()
    >>> empty.observe(1000, 3500), empty.observe(300, 2800)
    (None, None)
    >>> round(empty.cost_ms)
    2500
    """

    def __init__(self) -> None:
        """Start without an estimate."""
        self.cost_ms = 0.0
        """The estimate. It is 0 until the busy times have differed."""
        self._busy = self._epoch = self._spread = self._common = 0.0
        self._slope: float | None = None
        self._first = True

    @property
    def is_known(self) -> bool:
        """Whether the busy times have differed enough for an estimate."""
        return self._slope is not None

    @property
    def idle_ms(self) -> float:
        """The average time in which no subtask was busy, which is the most that an empty epoch can cost."""
        return max(0.0, self._epoch - self._busy)

    def observe(self, busy_ms: float, epoch_ms: float) -> None:
        """Learn how long the subtasks of an epoch were busy, and how long the epoch took."""
        if self._first:
            self._first = False
            self._busy, self._epoch = busy_ms, epoch_ms
            return
        busy, epoch = busy_ms - self._busy, epoch_ms - self._epoch
        self._busy += WEIGHT * busy
        self._epoch += WEIGHT * epoch
        self._spread = (1 - WEIGHT) * (self._spread + WEIGHT * busy * busy)
        self._common = (1 - WEIGHT) * (self._common + WEIGHT * busy * epoch)
        if self._spread**0.5 > LEAST_SPREAD * max(self._busy, SHORTEST_MS):
            self._slope = max(1.0, self._common / self._spread)
        if self._slope is not None:
            self.cost_ms = max(0.0, self._epoch - self._slope * self._busy)


class Pace:
    """Keeps epochs at their target length when the operators behind the sources are slower than the sources.

    A source stops reading after some time, and then all supersteps process what it has read. If they take longer, the
    source gets less time. Otherwise checkpoints and processing-time timers would have to wait for everything that a
    fast source can read. What an empty epoch costs does not count: reading less would not make it cheaper.

    A function that takes milliseconds per record can need minutes for what a source reads in an instant. Therefore the
    number of records per epoch is also limited, as soon as the time per record is known.

    >>> pace = Pace(1000)
    >>> pace.observe(5000, 4900)
    >>> pace.limit_ms
    200
    >>> pace.observe(900, 800), pace.limit_ms
    (None, 400)
    """

    def __init__(self, target_ms: int, first_records: int | None = None) -> None:
        """Aim at epochs of ``target_ms``. In the first, each source subtask emits at most ``first_records``."""
        self.target_ms = max(target_ms, SHORTEST_MS)
        self.limit_ms: int | None = None
        """Time that sources may read, None for no limit."""
        self.limit_records = first_records
        """Number of records that a source subtask may emit, None for no limit."""
        self._records, self._spent_ms, self._slow = 0, 0.0, False
        self.last_ms = 0
        """Duration of the last epoch."""
        self._empty = EmptyEpoch()

    @classmethod
    def of(cls, plan: JobPlan) -> Pace:
        """Return the initial pace of a job."""
        longest = plan.settings.max_epoch_ms
        exchanges = not plan.batch and any(chain.inputs for chain in plan.chains)
        return cls(longest if plan.bounded else min(longest, UNBOUNDED_EPOCH_MS), FIRST_RECORDS if exchanges else None)

    @property
    def least_ms(self) -> int:
        """Time that sources may read even if a checkpoint is due: as long as an empty epoch takes, up to the limit."""
        longest = self.target_ms if self.limit_ms is None else self.limit_ms
        # While the cost is unknown, reading a little longer shows it.
        cost = self._empty.cost_ms if self._empty.is_known else EXPLORED * self._empty.idle_ms
        return max(SHORTEST_MS, min(longest, int(cost)))

    def observe(self, epoch_ms: int, busy_ms: float) -> None:
        """Learn how long an epoch took, and how long its supersteps had work: reading, and processing what was read."""
        self.last_ms = epoch_ms
        self._empty.observe(busy_ms, epoch_ms)
        worked = epoch_ms - int(self._empty.cost_ms)
        now = self.target_ms if self.limit_ms is None else self.limit_ms
        if worked > 2 * self.target_ms:
            self.limit_ms = max(SHORTEST_MS, now * self.target_ms // worked)
        elif worked < self.target_ms and self.limit_ms is not None:
            self.limit_ms = None if 2 * now >= self.target_ms else 2 * now

    def learn(self, records: int, spent_ms: float, *, slow: bool, left: bool) -> None:
        """Learn how long the operators behind the sources took for the emitted records, over one or several epochs.

        Args:
            records: The largest number of records that a source subtask emitted in this epoch.
            spent_ms: How long the supersteps behind exchanges took.
            slow: Whether that is long for this number of records.
            left: Whether some of the records are still to be processed.

        >>> pace = Pace(1000, 1024)
        >>> pace.learn(1024, 500, slow=True, left=True)
        >>> pace.learn(0, 1500, slow=True, left=False)
        >>> pace.limit_records
        256
        """
        self._records += records
        self._spent_ms += spent_ms
        self._slow |= slow
        if left:
            return
        records, spent_ms, slow = self._records, max(self._spent_ms, 1.0), self._slow
        self._records, self._spent_ms, self._slow = 0, 0.0, False
        if self.limit_records is not None and records:
            possible = records * (LONGEST_WAIT_MS if slow else SPARE * self.target_ms) / spent_ms
            self.limit_records = max(1, min(GROWTH * records, int(possible)))
