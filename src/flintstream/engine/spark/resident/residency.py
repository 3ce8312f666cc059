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
    from flintstream.runtime.exchange.receiving import Item

__all__ = ["Residency", "fits", "is_encrypted"]

_log = logging.getLogger(__name__)

SHORT_SECONDS = 0.5
SHORT_EPOCHS = 3
"""Tasks become resident after this many epochs in a row that were shorter than that."""

MOST_MOVED = 4 << 20
"""An epoch in which resident tasks return more bytes is their last one."""

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

    They are there while epochs are short and no other Spark job of the context needs their cores.
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
            partitions: The number of tasks of each superstep.
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
        self._short_epochs = 0
        self._tasks: ResidentTasks | None = None
        self._last_epoch = 0.0
        self._using = threading.Lock()
        """Held during an epoch: the tasks must not end then."""
        self._over = threading.Event()

    def run_epoch(self, items: Sequence[Item]) -> list[Item] | None:
        """Run an epoch in resident tasks; return None if it must run as a Spark job.

        It must if there are no resident tasks, or if one was lost.
        """
        with self._using:
            if self._tasks is None and not (self._possible and self._short_epochs >= SHORT_EPOCHS and self._start()):
                return None
            assert self._tasks is not None  # noqa: S101 - they have started
            time.sleep(max(0.0, self._last_epoch + PERIOD_SECONDS - time.monotonic()))
            self._last_epoch = time.monotonic()
            try:
                results = self._tasks.run_epoch(items)
            except TaskLostError as error:
                _log.warning("a resident task was lost, so the epoch runs again as a Spark job: %s", error)
                self._tasks, self._short_epochs = None, 0
                return None
            if self._tasks.moved > MOST_MOVED:
                self._end()
            return results

    def job_ran(self, seconds: float) -> None:
        """Note how long an epoch took that ran as a Spark job."""
        self._short_epochs = self._short_epochs + 1 if seconds < SHORT_SECONDS else 0

    def make_room(self) -> None:
        """Let another Spark job have the cores of the tasks."""
        with self._using:
            short_epochs = self._short_epochs
            self._end()
            self._short_epochs = short_epochs

    def close(self) -> None:
        """End the tasks for good."""
        self._over.set()
        with self._using:
            self._possible = False
            self._end()

    def _start(self) -> bool:
        count = max(self._partitions)
        if count > self._context.defaultParallelism or self._other_jobs():
            self._short_epochs = 0
            return False
        tasks = ResidentTasks(self._partitions)
        if not tasks.start(self._job, self._place(), self._run):
            _log.info("every epoch is a Spark job: resident tasks cannot connect to the driver")
            self._possible = False
            return False
        self._tasks = tasks
        self._last_epoch = time.monotonic()
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
        tasks, self._tasks, self._short_epochs = self._tasks, None, 0
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
                    if self._tasks is tasks and (wanted or time.monotonic() > self._last_epoch + LOOK_SECONDS):
                        self._end()
