"""Decides whether an epoch of a job runs in resident tasks or as a Spark job."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from flintstream.engine.spark.jvm.context import setting
from flintstream.engine.spark.resident.resident_tasks import Place, ResidentTasks, TaskLostError
from flintstream.engine.spark.sockets import new_socket_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.engine.spark.resident.resident_tasks import ResidentTask
    from flintstream.engine.spark.shipping import ShippedJob
    from flintstream.errors import WorkerLostError
    from flintstream.runtime.exchange.receiving import Item

__all__ = ["Residency", "fits", "is_encrypted"]

_log = logging.getLogger(__name__)

MOST_MOVED = 4 << 20
"""An epoch whose tasks send more bytes is a Spark job, which moves them without the driver."""

SHORT_SECONDS = 0.5
"""An epoch that takes less may send more, for resident tasks have shorter ones."""

EPOCHS_BEFORE = 1
"""Tasks become resident after this many Spark jobs: the first one starts the workers, and names what they lack."""

EPOCHS_BETWEEN = 3
"""Tasks become resident again after this many Spark jobs in a row that could have been theirs."""

MOST_STARTS = 3
"""How often to try to start resident tasks that do not connect; ten times as many epochs lie before the next try."""

PERIOD_SECONDS = 0.01
"""The least time from one epoch to the next, which bounds the cost of epochs with few records."""

LOOK_SECONDS = 0.5
"""How often to look for other Spark jobs. Resident tasks also end if there was no epoch for this time."""


def fits(context: Any) -> bool:
    """Tell whether tasks may be resident in a Spark context, as it is configured."""
    # Spark would start a long task a second time, and would wait for it in vain before it gives up an executor.
    return not _any_set(context, "spark.speculation", "spark.decommission.enabled")


def is_encrypted(context: object, *, wanted: bool | None, one_machine: bool) -> bool:
    """Tell whether to encrypt the connections of resident tasks: if it is wanted, or as Spark encrypts its own."""
    if wanted is None:
        encrypted = ("spark.network.crypto.enabled", "spark.ssl.enabled", "spark.ssl.rpc.enabled")
        return not one_machine and _any_set(context, *encrypted)
    return wanted


def _any_set(context: object, *keys: str) -> bool:
    return any((setting(context, key) or "").lower() == "true" for key in keys)


class Residency:
    """The resident tasks of one job, which come and go.

    They are there while epochs move little and no other Spark job of the context needs their cores.
    """

    def __init__(
        self,
        context: Any,
        partitions: Sequence[int],
        job: ShippedJob,
        run: Callable[[ResidentTask, int], object],
        *,
        one_machine: bool,
        encrypted: bool,
    ) -> None:
        """Take what a start of resident tasks needs.

        Args:
            context: The Spark context.
            partitions: The number of partitions of each superstep.
            job: The job.
            run: Runs the given number of tasks, as one Spark job.
            one_machine: Whether all tasks run on the driver's machine.
            encrypted: Whether to encrypt the connections.
        """
        self._context = context
        self._partitions = partitions
        self._job = job
        self._run = run
        self._one_machine = one_machine
        self._encrypted = encrypted
        self._possible = True
        self._missing_epochs = EPOCHS_BEFORE
        """How many Spark jobs that move little have to come before the tasks start."""
        self._failed_starts = 0
        self._lost: WorkerLostError | None = None
        self._tasks: ResidentTasks | None = None
        self._last_begin = self._last_end = 0.0
        self._using = threading.Lock()
        """Held during an epoch: the tasks must not end then."""
        self._over = threading.Event()

    def run_epoch(self, items: Sequence[Item]) -> list[Item] | None:
        """Run an epoch in resident tasks; return None if it must run as a Spark job.

        It must if there are no resident tasks, or if one was lost.
        """
        with self._using:
            if self._tasks is None and not (self._possible and self._missing_epochs <= 0 and self._start()):
                return None
            assert self._tasks is not None  # noqa: S101 - they have started
            time.sleep(max(0.0, self._last_begin + PERIOD_SECONDS - time.monotonic()))
            self._last_begin = time.monotonic()
            try:
                results = self._tasks.run_epoch(items)
            except TaskLostError as error:
                _log.debug("a resident task was lost: %s", error)
                self._lost = error.loss
                self._tasks, self._missing_epochs = None, EPOCHS_BETWEEN
                return None
            self._last_end = time.monotonic()
            if self._tasks.moved > MOST_MOVED:
                self._end()
                self._missing_epochs = EPOCHS_BETWEEN
            return results

    def take_lost(self) -> WorkerLostError | None:
        """Return which task was lost in the last epoch, once."""
        lost, self._lost = self._lost, None
        return lost

    def job_ran(self, moved: int, seconds: float) -> None:
        """Note how many bytes the tasks sent in an epoch that ran as a Spark job, and how long it took."""
        if moved <= MOST_MOVED or seconds < SHORT_SECONDS:
            self._missing_epochs -= 1
        else:
            self._missing_epochs = max(self._missing_epochs, EPOCHS_BETWEEN)

    def make_room(self) -> None:
        """Let another Spark job have the cores of the tasks."""
        with self._using:
            self._end()

    def close(self) -> None:
        """End the tasks for good."""
        self._over.set()
        with self._using:
            self._possible = False
            self._end()

    def _start(self) -> bool:
        if self._other_jobs():
            self._missing_epochs = EPOCHS_BETWEEN
            return False
        tasks = ResidentTasks(self._partitions, int(self._context.defaultParallelism))
        if not tasks.start(self._job, self._place(), self._run):
            self._failed_starts += 1
            self._possible = self._failed_starts < MOST_STARTS
            self._missing_epochs = 10**self._failed_starts
            _log.info("epochs are Spark jobs: resident tasks cannot connect to the driver")
            return False
        self._tasks, self._failed_starts = tasks, 0
        self._last_end = time.monotonic()
        threading.Thread(target=self._watch, args=(tasks,), name="flintstream-residency", daemon=True).start()
        return True

    def _place(self) -> Place:
        """Return where to listen for the tasks: in a private directory if they run here."""
        encryption = None
        if self._encrypted:
            from flintstream.channels.tls import OwnCertificate

            encryption = OwnCertificate()
        if self._one_machine:
            return Place(new_socket_path() or ("127.0.0.1", 0), encryption=encryption)
        known_as = (setting(self._context, "spark.driver.host") or "").strip("[]")
        own = (setting(self._context, "spark.driver.bindAddress") or "").strip("[]")
        return Place((own or known_as, 0), known_as, encryption)

    def _end(self) -> None:
        tasks, self._tasks = self._tasks, None
        if tasks is not None and not tasks.close():
            _log.info("resident tasks have not ended yet")

    def _other_jobs(self) -> bool:
        """Tell whether the Spark context runs jobs other than that of the tasks."""
        return len(self._context.statusTracker().getActiveJobsIds()) > (self._tasks is not None)

    def _watch(self, tasks: ResidentTasks) -> None:
        """End the tasks when other Spark jobs run, or when they have nothing to do."""
        while self._tasks is tasks and not self._over.wait(LOOK_SECONDS):
            with contextlib.suppress(Exception):  # Spark has ended, which the next epoch finds out
                wanted = self._other_jobs()
                with self._using:
                    if self._tasks is tasks and (wanted or time.monotonic() > self._last_end + LOOK_SECONDS):
                        self._end()
                        self._missing_epochs = EPOCHS_BETWEEN if wanted else 0
