"""One epoch, as the operators of a subtask see it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.runtime.plan import JobSettings
    from flintstream.runtime.protocol import Instruction


class Epoch(NamedTuple):
    """The facts about an epoch, made once from the driver's instruction and passed to every operator.

    >>> Epoch(number=3).drain
    False
    """

    number: int = 0
    version: str = ""
    """The version of the state at its end, unique to this attempt at the epoch."""
    run: str = ""
    """Identifies the run; changes with every restart of the job."""
    checkpoint: bool = False
    """The epoch ends with a checkpoint or savepoint."""
    savepoint: bool = False
    """The epoch ends with a savepoint, from which another job may start while this job continues."""
    commit: bool = True
    """The output that sinks prepare at the end of the epoch is committed before the next epoch."""
    drain: bool = False
    """The input ends now, as if the sources were exhausted."""
    end_of_input: bool = False
    """All input has ended and no epoch follows; known only after the epoch's input has been read."""
    max_epoch_ms: int = 5_000
    """How long sources read (ms)."""
    idle_epoch_ms: int = 200
    """How long sources read while the tasks only wait (ms)."""
    waits: bool = True
    """Sources may wait for input; if not, other subtasks of the same task would wait, too."""
    max_records: int | None = None
    """How many records a source may emit; None for no limit."""
    no_more_splits: frozenset[int] = frozenset()
    """The nodes of the sources that receive no more splits."""
    slowest: Mapping[str, int] = MappingProxyType({})
    """Alignment group -> lowest watermark (ms) of its sources at the end of the previous epoch."""
    tracks_changes: bool = True
    """Keyed state records its changes; otherwise all of it is written at the end."""

    @classmethod
    def of(
        cls, instruction: Instruction, settings: JobSettings, version: str, *, tracks_changes: bool, waits: bool
    ) -> Epoch:
        """Return the epoch that ``instruction`` describes."""
        longest = settings.max_epoch_ms
        return cls(
            number=instruction.epoch,
            version=version,
            run=instruction.run,
            checkpoint=instruction.snapshot is not None,
            savepoint=instruction.savepoint,
            commit=instruction.commit,
            drain=instruction.drain,
            max_epoch_ms=longest if instruction.max_epoch_ms is None else min(longest, instruction.max_epoch_ms),
            idle_epoch_ms=settings.idle_epoch_ms,
            waits=waits,
            max_records=instruction.max_records,
            no_more_splits=instruction.no_more_splits,
            slowest=instruction.slowest,
            tracks_changes=tracks_changes,
        )
