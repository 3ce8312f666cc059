"""The contract between the coordinator and an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import StateHandle


Result = TypeVar("Result")


@dataclass(frozen=True)
class Materialization:
    """The log of one subtask up to an epoch."""

    chain: int
    subtask: int
    handles: tuple[StateHandle, ...]


@dataclass(frozen=True)
class Loss:
    """The end of a worker in the middle of an epoch."""

    how: str
    """How it ended, as ``was killed by signal 9 (SIGKILL)``."""
    process: int | None
    subtask: int | None
    """The subtask that it ran, from 0."""


@dataclass(frozen=True)
class Way:
    """How an engine ran an epoch."""

    name: str
    slots: int
    """How many tasks ran at a time."""
    lost: Loss | None = None
    """A worker that was lost, so that the engine ran the epoch again."""


class Engine(Protocol):
    """Executes the epochs of one job. One thread calls all methods but :meth:`check` and :meth:`cancel`."""

    @property
    def way(self) -> Way:
        """How the last epoch ran."""

    def check(self, plan: JobPlan) -> None:
        """Check that the engine can run ``plan``, when the program is built.

        Raises:
            FlintstreamError: It cannot, as it is configured.
        """

    def start(self, plan: JobPlan) -> None:
        """Prepare to run ``plan``."""

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run every superstep once: take instructions as items, and return reports as items.

        Raises:
            JobCancelledError: :meth:`cancel` was called.
        """

    def materialize(self, task: Materialization) -> Future[StateHandle]:
        """Materialize the changelog of a subtask in the background, while epochs run."""

    def run_tasks(self, functions: Sequence[Callable[[], Result]]) -> list[Result]:
        """Run picklable functions in parallel and return their results in order.

        May be called between epochs, before :meth:`start` and after :meth:`stop`; :meth:`cancel` does not stop it. If a
        worker is lost, its function runs again. It may still run after this has raised an error.

        Raises:
            Exception: A function raised it, or too many workers were lost.
        """

    def forget(self, names: Sequence[str]) -> None:
        """Delete blobs of the state log that no later epoch needs."""

    def cancel(self) -> None:
        """Stop the running epoch, so that :meth:`run_epoch` raises. Any thread may call this."""

    def stop(self) -> None:
        """Release the resources that :meth:`start` acquired."""
