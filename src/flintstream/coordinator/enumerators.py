"""Split enumerators: user code that runs in the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.source import SplitEnumerator
from flintstream.runtime.failure import user_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.source import Source, SourceSplit


class NamedEnumerator(SplitEnumerator):
    """An enumerator whose exceptions name its operator."""

    def __init__(self, source: Source, parallelism: int, operator: str) -> None:
        """Create the enumerator of a source."""
        self._where = f"the split enumerator of operator '{operator}'"
        with user_code(self._where):
            self._own = source.create_enumerator(parallelism)
        self.replaces_progress = self._own.replaces_progress

    def start(self, *, checkpoints: bool, batch: bool) -> None:
        """Start the enumerator."""
        with user_code(self._where):
            self._own.start(checkpoints=checkpoints, batch=batch)

    def discover(self) -> Sequence[SourceSplit]:
        """Return new splits."""
        with user_code(self._where):
            return list(self._own.discover())

    def is_finished(self) -> bool:
        """Return whether there will be no more splits."""
        with user_code(self._where):
            return self._own.is_finished()

    def snapshot(self) -> object:
        """Return the state."""
        with user_code(self._where):
            return self._own.snapshot()

    def restore(self, state: object) -> None:
        """Restore the state."""
        with user_code(self._where):
            self._own.restore(state)

    def epoch_ended(self, *, all_read: bool) -> None:
        """Notify that an epoch has ended."""
        with user_code(self._where):
            self._own.epoch_ended(all_read=all_read)

    def epoch_progressed(self, progress: Sequence[object]) -> None:
        """Notify what the readers have done in an epoch, before a checkpoint of it is taken."""
        with user_code(self._where):
            self._own.epoch_progressed(progress)

    def checkpoint_completed(self, progress: Sequence[object]) -> None:
        """Notify that a checkpoint is complete."""
        with user_code(self._where):
            self._own.checkpoint_completed(progress)

    def epoch_read(self, progress: Sequence[object]) -> None:
        """Notify how far the readers have come in an epoch."""
        with user_code(self._where):
            self._own.epoch_read(progress)

    def note_end(self) -> None:
        """Let the enumerator note where its input ends now."""
        with user_code(self._where):
            self._own.note_end()

    def has_reached_end(self) -> bool | None:
        """Return whether the readers have passed that end; None if that is unknown."""
        with user_code(self._where):
            return self._own.has_reached_end()

    def close(self) -> None:
        """Close the enumerator."""
        with user_code(self._where):
            self._own.close()
