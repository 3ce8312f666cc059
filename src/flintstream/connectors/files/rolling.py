"""Rolling policies, which decide when a file sink closes a part file, and the names of part files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.errors import PlanError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


LONGEST_AFFIXES = 128
"""Most bytes of prefix and suffix of part files. Names of hidden files contain ids as well, and may have 255."""


class RollingPolicy:
    """Decides when a part file is complete.

    >>> class ByDay(RollingPolicy):
    ...     DAY = 24 * 60 * 60 * 1000
    ...
    ...     def rolls_on_time(self, created, updated, now):
    ...         return now >= self.next_roll(created, updated)
    ...
    ...     def next_roll(self, created, updated):
    ...         return created - created % self.DAY + self.DAY
    >>> ByDay().rolls_on_time(created=0, updated=1_000, now=90_000_000), ByDay().rolls_on_size(2**40)
    (True, False)
    >>> ByDay().next_roll(created=0, updated=1_000), ByDay().rolls_on_checkpoint()
    (86400000, False)
    """

    def rolls_on_size(self, size: int) -> bool:
        """Return whether to close a file of this size (bytes) before the next record."""
        return False

    def rolls_on_time(self, created: int, updated: int, now: int) -> bool:
        """Return whether to close a file at ``now`` because of its age or inactivity (times in ms since the epoch)."""
        return False

    def next_roll(self, created: int, updated: int) -> int | None:
        """Return when (ms since the epoch) :meth:`rolls_on_time` becomes true for a file; None for never."""
        return None

    def rolls_on_checkpoint(self) -> bool:
        """Return whether to close files at every checkpoint or, without checkpointing, at the end of every epoch."""
        return False

    @staticmethod
    def default_rolling_policy(
        part_size: int = 128 * 1024 * 1024, rollover_interval: int = 60_000, inactivity_interval: int = 60_000
    ) -> DefaultRollingPolicy:
        """Return a policy that closes a file by its size (bytes), its age (ms) or its inactivity (ms).

        >>> policy = RollingPolicy.default_rolling_policy(part_size=1024, inactivity_interval=5_000)
        >>> policy.rolls_on_size(1_000), policy.rolls_on_size(2_000)
        (False, True)
        >>> policy.next_roll(created=0, updated=3_000), policy.next_roll(created=0, updated=58_000)
        (8000, 60000)

        Raises:
            PlanError: One of the numbers is not positive.
        """
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Return a policy that closes all files at every checkpoint and at no other time.

        >>> policy = RollingPolicy.on_checkpoint_rolling_policy()
        >>> policy.rolls_on_checkpoint(), policy.rolls_on_size(2**40)
        (True, False)
        """
        return OnCheckpointRollingPolicy()


@dataclass(frozen=True)
class DefaultRollingPolicy(RollingPolicy):
    """Closes a file by its size (bytes), its age (ms), or the time since the last write (ms).

    >>> from flintstream.datastream.connectors.file_system import RollingPolicy
    >>> policy = RollingPolicy.default_rolling_policy(part_size=1_048_576, rollover_interval=900_000)
    >>> isinstance(policy, DefaultRollingPolicy), policy.part_size
    (True, 1048576)
    """

    part_size: int
    rollover_interval: int
    inactivity_interval: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, int) or value <= 0:
                raise PlanError(f"{name} of a rolling policy must be a positive int, got {value!r}")

    def rolls_on_size(self, size: int) -> bool:
        """Return whether the file has exceeded the part size."""
        return size > self.part_size

    def rolls_on_time(self, created: int, updated: int, now: int) -> bool:
        """Return whether the file is too old or has been inactive for too long."""
        return now >= self.next_roll(created, updated)

    def next_roll(self, created: int, updated: int) -> int:
        """Return when the file becomes too old or has been inactive for too long, whichever comes first."""
        return min(created + self.rollover_interval, updated + self.inactivity_interval)


@dataclass(frozen=True)
class OnCheckpointRollingPolicy(RollingPolicy):
    """Closes all files at every checkpoint and at no other time.

    >>> from flintstream.datastream.connectors.file_system import RollingPolicy
    >>> isinstance(RollingPolicy.on_checkpoint_rolling_policy(), OnCheckpointRollingPolicy)
    True
    """

    def rolls_on_checkpoint(self) -> bool:
        """Return True."""
        return True


@dataclass(frozen=True)
class PartNames:
    """Names of part files: ``<prefix>-<uid>-<number><suffix>``, hidden while they are being written."""

    prefix: str = "part"
    suffix: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, str) or re.search(r"[/\0]", value):
                raise PlanError(f"the {name} of part files must be a str that is valid in a file name, got {value!r}")
        both = self.prefix + self.suffix
        try:
            length = len(both.encode())
        except UnicodeEncodeError:
            raise PlanError(f"prefix and suffix of part files must be valid text, got {shorten(both)}") from None
        if length > LONGEST_AFFIXES:
            raise PlanError(
                f"prefix and suffix of part files must have at most {LONGEST_AFFIXES} bytes together, got {length}: "
                f"{shorten(both)}"
            )

    def finished_name(self, uid: str, number: int) -> str:
        """Return the name of a finished file."""
        return f"{self.prefix}-{uid}-{number}{self.suffix}"

    def in_progress(self, uid: str, number: int, attempt: str) -> str:
        """Return the name of the file while it is being written."""
        return f".{self.finished_name(uid, number)}.inprogress.{attempt}"

    def leftovers_of(self, uids: Collection[str]) -> Callable[[str], bool]:
        """Return a predicate for unfinished files of these writers."""
        marks = [f"-{uid}-" for uid in uids]
        return lambda name: ".inprogress." in name and any(mark in name for mark in marks)
