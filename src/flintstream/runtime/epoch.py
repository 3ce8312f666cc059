"""One epoch as the operators of a subtask see it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.runtime.plan import JobSettings
    from flintstream.runtime.protocol import Instruction


class Epoch(NamedTuple):
    """The facts about an epoch: made once from the driver's instruction, and handed to every operator.

    >>> Epoch(number=3).drain
    False
    """

    number: int = 0
    version: str = ""
    """The version of the state at its end; no other attempt at this epoch has the same."""
    run: str = ""
    """Changes whenever the job is started again."""
    checkpoint: bool = False
    """It ends with a checkpoint or savepoint."""
    savepoint: bool = False
    """It ends with a savepoint, from which another job may start while this one goes on."""
    commit: bool = True
    """The output that sinks prepare at its end is committed before the next epoch."""
    drain: bool = False
    """The input ends now, as if the sources were used up."""
    end_of_input: bool = False
    """All input has ended and no epoch follows; known only when the epoch's input has been read."""
    max_epoch_ms: int = 5_000
    """How long sources read."""
    idle_epoch_ms: int = 200
    """How long sources read while the tasks only wait."""
    max_records: int | None = None
    """How many records a source emits, None for as many as it can."""
    no_more_splits: frozenset[int] = frozenset()
    """The nodes of the sources that get no more splits."""
    slowest: Mapping[str, int] = MappingProxyType({})
    """Alignment group -> lowest watermark (ms) of its sources at the end of the epoch before."""
    tracks_changes: bool = True
    """Keyed state has to record its changes; otherwise all of it is written at the end."""

    @classmethod
    def of(cls, instruction: Instruction, settings: JobSettings, version: str, *, tracks_changes: bool) -> Epoch:
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
            max_records=instruction.max_records,
            no_more_splits=instruction.no_more_splits,
            slowest=instruction.slowest,
            tracks_changes=tracks_changes,
        )
