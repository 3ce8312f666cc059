"""The contract between the coordinator and an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from flintstream.coordinator.materializer import Folding
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import StateHandle


class Engine(Protocol):
    """Executes epochs of one job. All methods but :meth:`cancel` are called from one thread."""

    def start(self, plan: JobPlan) -> None:
        """Prepare to run ``plan``."""

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run every superstep once, from the given items (instructions) to what leaves the last one (reports).

        Raises:
            JobCancelledError: :meth:`cancel` was called.
        """

    def materialize(self, folding: Folding) -> Future[StateHandle]:
        """Fold the changelog of a subtask, beside the epochs."""

    def forget(self, names: Sequence[str]) -> None:
        """Delete blobs of the state log that no later epoch needs."""

    def cancel(self) -> None:
        """Stop the running epoch, from any thread, and let :meth:`run_epoch` raise."""

    def stop(self) -> None:
        """Release what :meth:`start` took."""
