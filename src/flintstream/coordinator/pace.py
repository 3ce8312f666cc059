"""How long sources may read in an epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.runtime.block_size import LONGEST_WAIT_MS
from flintstream.runtime.operators.source import UNBOUNDED_EPOCH_MS

if TYPE_CHECKING:
    from flintstream.runtime.plan import JobPlan

SHORTEST_MS = 50
"""An epoch costs about this much however little it does."""

FIRST_RECORDS = 1024
"""What sources emit at first, until it is known how long the functions behind exchanges take for a record."""

GROWTH = 64
"""How many times as many records an epoch has at most as the one before."""

SPARE = 8
"""How many times the target an epoch may miss as far as records go: there is the time for the rest."""


class Pace:
    """Keeps epochs as long as they should be when what follows the sources is slower than they are.

    A source ends its part of the epoch after a time; what it has read by then passes through all supersteps that
    follow. Where these take longer, the source is given less time. Without that, checkpoints and processing-time timers
    would have to wait for everything that a fast source could read.

    A function that takes milliseconds for a record is busy for minutes with what a source reads in a moment. So the
    records of an epoch are limited, too, as soon as it is known how long they take.

    >>> pace = Pace(1000)
    >>> pace.observe(5000)
    >>> pace.limit_ms
    200
    >>> pace.observe(900), pace.limit_ms
    (None, 400)
    """

    def __init__(self, target_ms: int, first_records: int | None = None) -> None:
        """Aim at epochs of ``target_ms``, the first of at most ``first_records`` of each source's subtask."""
        self.target_ms = max(target_ms, SHORTEST_MS)
        self.limit_ms: int | None = None
        """What sources are given, None for as long as they like."""
        self.limit_records = first_records
        """How many records a subtask of a source is to emit, None for as many as it can."""
        self._records, self._spent_ms, self._slow = 0, 0.0, False
        self.last_ms = 0
        """How long the last epoch took."""

    @classmethod
    def of(cls, plan: JobPlan) -> Pace:
        """Return the pace at which a job begins."""
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
        """Learn how long what follows the sources took for what they had emitted, in one epoch or in several.

        Args:
            records: The most that a subtask of a source has emitted in this epoch.
            spent_ms: How long the supersteps behind exchanges took.
            slow: Whether that was long for so few records.
            left: Whether they are not done yet.

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
