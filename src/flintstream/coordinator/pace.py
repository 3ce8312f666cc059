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


class Pace:
    """Keeps epochs at their target length when the operators behind the sources are slower than the sources.

    A source stops reading after some time, and then all supersteps process what it has read. If they take longer, the
    source gets less time. Otherwise checkpoints and processing-time timers would have to wait for everything that a
    fast source can read.

    A function that takes milliseconds per record can need minutes for what a source reads in an instant. Therefore the
    number of records per epoch is also limited, as soon as the time per record is known.

    >>> pace = Pace(1000)
    >>> pace.observe(5000)
    >>> pace.limit_ms
    200
    >>> pace.observe(900), pace.limit_ms
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

    @classmethod
    def of(cls, plan: JobPlan) -> Pace:
        """Return the initial pace of a job."""
        longest = plan.settings.max_epoch_ms
        exchanges = not plan.batch and any(chain.inputs for chain in plan.chains)
        return cls(longest if plan.bounded else min(longest, UNBOUNDED_EPOCH_MS), FIRST_RECORDS if exchanges else None)

    def observe(self, epoch_ms: int) -> None:
        """Learn how long an epoch took."""
        self.last_ms = epoch_ms
        now = self.target_ms if self.limit_ms is None else self.limit_ms
        if epoch_ms > 2 * self.target_ms:
            self.limit_ms = max(SHORTEST_MS, now * self.target_ms // epoch_ms)
        elif epoch_ms < self.target_ms and self.limit_ms is not None:
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
