"""Engine that runs each epoch as one Spark job: a linear chain of RDDs with a stage per superstep."""

from __future__ import annotations

import contextlib
import logging
import pickle
import threading
import time
import uuid
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flintstream.channels.listener import require_encryption
from flintstream.common._user_code import by_value
from flintstream.coordinator.engine import Loss, Way
from flintstream.coordinator.monitoring.epochs import RESIDENT
from flintstream.engine.spark.acknowledgements import ACKNOWLEDGEMENT, TaskAcknowledgement, difference
from flintstream.engine.spark.connect import refuse_connect
from flintstream.engine.spark.failures.ends import directory_of_reports, end_in, end_of_process, words_for
from flintstream.engine.spark.failures.spark_errors import plainly
from flintstream.engine.spark.job_log import JobLog, epoch_of, needs_place, one_machine, require_one_machine
from flintstream.engine.spark.jvm.context import Executors, is_alive, setting
from flintstream.engine.spark.jvm.stages import StageChain, level_of
from flintstream.engine.spark.placement import Placement
from flintstream.engine.spark.provision.dependencies import with_dependencies
from flintstream.engine.spark.resident.residency import Residency, fits, is_encrypted
from flintstream.engine.spark.session import master_of, spark_context
from flintstream.engine.spark.shipping import ship
from flintstream.engine.spark.slots import (
    DAEMON,
    SLOT_OF,
    acquire_namespace,
    release_namespace,
    slot_template,
    with_own_workers,
)
from flintstream.engine.spark.tasks import results_of
from flintstream.engine.spark.worker import MaterializeTask, StageTask
from flintstream.engine.spark.worker_lines import drain_lines, with_lines
from flintstream.errors import FlintstreamError, JobCancelledError, MissingDependencyError
from flintstream.options.execution import ENCRYPT_RESIDENT_TASKS, RESIDENT_TASKS
from flintstream.runtime.exchange.receiving import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flintstream.coordinator.engine import Materialization, Result
    from flintstream.engine.spark.failures.ends import End
    from flintstream.engine.spark.failures.losses import FailedTask
    from flintstream.engine.spark.resident.resident_tasks import ResidentTask
    from flintstream.engine.spark.shipping import Shipment, ShippedJob
    from flintstream.errors import WorkerLostError
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import StateHandle

_log = logging.getLogger(__name__)


class SparkEngine:
    """Runs a job on a Spark context."""

    def __init__(self, configuration: Mapping[str, str]) -> None:
        """Create an engine for one job."""
        refuse_connect(configuration)
        self.configuration = configuration
        self.cancelled = False
        self.context: Any = None
        self.shipment: Shipment | None = None
        self.job_log: JobLog | None = None
        self.slot_namespace: int | None = None
        self.slots: str | None = None
        self.reports: str | None = None
        """The directory in which the daemons of this machine report the ends of Python workers."""
        self.groups: tuple[str, ...] = ()
        """The groups of Spark jobs that end with this job: its epochs, the folds of its changelog, resident tasks."""
        self.residency: Residency | None = None
        self.way = Way("Spark jobs", 1)
        self.moved = 0
        """How many bytes the tasks of the last epoch sent that was a Spark job."""
        self.tasks_group = f"flintstream-tasks-{uuid.uuid4().hex}"

    def check(self, plan: JobPlan) -> None:
        """Check that the workers can exchange keyed state, before the job starts.

        Raises:
            FlintstreamError: They share neither a machine nor a store.
            MissingDependencyError: The client of the store is not installed, or what encryption needs.
        """
        if ENCRYPT_RESIDENT_TASKS.read(self.configuration):
            require_encryption()
        if needs_place(plan, self.configuration):
            require_one_machine(master_of(self.configuration))

    def start(self, plan: JobPlan) -> None:
        """Get the Spark context and ship the plan."""
        self.plan = plan
        self.groups = (plan.job_id, f"{plan.job_id}-log", f"{plan.job_id}-resident")
        with self._errors(()):
            self.context = self._connect(plan.job_id, plan.job_name)
        here = one_machine(self.context.master)
        self.job_log = JobLog(plan, self.configuration, here=here)
        self.log = self.job_log.log
        # The setup comes first: without it, a worker may be unable to unpickle the rest.
        setup = with_lines(plan.settings.process_setup.with_main(), self.context)
        data = pickle.dumps(setup, 5) + by_value.dumps((plan, self.log))
        sticky = self._has_sticky_workers(self.context)
        if sticky:
            self.slot_namespace = acquire_namespace()
            cores = int(setting(self.context, "spark.executor.cores") or self.context.defaultParallelism)
            self.slots = slot_template(cores, self.slot_namespace)
        self.shipment = ship(self.context, plan.job_id, data, sticky=sticky, one_machine=here)
        self._slots = int(self.context.defaultParallelism)
        partitions = self.partitions = [step.partitions for step in plan.supersteps]
        self.placement, self.executors = Placement(partitions), Executors(self.context)
        self.chain = StageChain(
            self.context,
            [
                (StageTask(self.shipment.job, level, following), following)
                for level, following in enumerate([*partitions[1:], 0])
            ],
            [", ".join(chain.name for chain in step.chains) for step in plan.supersteps],
        )

        if RESIDENT_TASKS.read(self.configuration) and not plan.batch and fits(self.context):
            self.residency = self._residency(self.shipment.job, one_machine=here)

    def _residency(self, job: ShippedJob, *, one_machine: bool) -> Residency | None:
        """Return the resident tasks of the job; None if they must be encrypted and cannot."""
        wanted = ENCRYPT_RESIDENT_TASKS.read(self.configuration)
        encrypted = is_encrypted(self.context, wanted=wanted, one_machine=one_machine)
        if encrypted:
            try:
                require_encryption()
            except MissingDependencyError as error:
                _log.warning("every epoch is a Spark job, because Spark encrypts its connections: %s", error)
                return None
        return Residency(
            self.context, self.partitions, job, self._run_residents, one_machine=one_machine, encrypted=encrypted
        )

    def _run_residents(self, task: ResidentTask, count: int) -> None:
        """Run a task for each partition, in a thread of its own."""
        self.context.setJobGroup(self.groups[2], f"{self.plan.job_name}: resident tasks", interruptOnCancel=True)
        self.context.setLocalProperty(SLOT_OF, self.slots)
        with plainly(end_of=self._end_of):
            self.context.parallelize(range(count), count).mapPartitionsWithIndex(task).collect()

    def _connect(self, group: str, description: str) -> Any:
        """Return the Spark context, with the program's dependencies; sticky workers have a separate pool."""
        context = self.context = spark_context(self.configuration)
        context.setJobGroup(group, description, interruptOnCancel=True)
        context = with_dependencies(context, self.configuration)
        if not self._has_sticky_workers(context):
            return context
        if one_machine(context.master):
            self.reports = directory_of_reports(context.applicationId)
        return with_own_workers(context, self.reports)

    @staticmethod
    def _has_sticky_workers(context: Any) -> bool:
        return setting(context, "spark.python.daemon.module") == DAEMON

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run one epoch, in resident tasks or as one Spark job."""
        self._check_cancelled()
        if self.residency is None:
            return self._run_job(items)
        with self._errors(items):
            results = self.residency.run_epoch(items)
        self.way = Way(RESIDENT, self._slots)
        if results is None:
            self._check_cancelled()
            began = time.monotonic()
            results = self._run_job(items)
            lost = self.residency.take_lost()
            if lost is not None:
                self.way = replace(self.way, lost=self._loss(lost))
            self.residency.job_ran(self.moved, time.monotonic() - began)
        return results

    def _check_cancelled(self) -> None:
        if self.cancelled:
            raise JobCancelledError(f"the job '{self.plan.job_name}' was cancelled")

    def _run_job(self, items: Sequence[Item]) -> list[Item]:
        """Run one epoch as one Spark job."""
        context, plan = self.context, self.plan
        self.way = Way("Spark jobs", self._slots)
        # Items for later supersteps travel through the exchanges, along with the first superstep's output.
        seeds: list[list[tuple[Any, ...]]] = [[] for _ in range(plan.supersteps[0].partitions)]
        for item in items:
            seeds[item.subtask % len(seeds)].append(tuple(item))
        description = plan.job_name
        if self.chain.explains:
            description = f"{plan.job_name}: epoch {epoch_of(items)}"
        context.setJobGroup(plan.job_id, description, interruptOnCancel=True)
        context.setLocalProperty(SLOT_OF, self.slots)
        with self._errors(items):
            places = self.placement.places(self.executors.by_name(), time.monotonic())
            results = [Item(*item) for item in self.chain.run(seeds, places)]
        return self._take_acknowledgements(results)

    @contextlib.contextmanager
    def _errors(self, items: Sequence[Item]) -> Iterator[None]:
        """Say what an error of Spark means in an epoch, if it is known."""
        try:
            with plainly(lambda task: self._begin_of_error(items, task), self._end_of):
                yield
        except Exception as error:
            if self.cancelled:
                raise JobCancelledError(f"the job '{self.plan.job_name}' was cancelled") from error
            raise

    def _begin_of_error(self, items: Sequence[Item], task: FailedTask | None) -> str:
        """Return what an error of an epoch begins with: its number, the job, and the operators of the task."""
        number = epoch_of(items)
        what = "the start" if number is None else f"epoch {number}"
        level = None if task is None else level_of(self.context, self.plan.job_id, task.stage)
        chains = self.plan.chains if level is None else self.plan.supersteps[level].chains
        place = "; ".join(chain.name for chain in chains) + ("" if task is None else f", subtask {task.partition + 1}")
        return f"{what} of '{self.plan.job_name}' ({place}) failed: "

    def _loss(self, error: WorkerLostError) -> Loss:
        """Return what is known of a resident task that was lost."""
        end = None
        if error.process is not None and self.reports is not None:
            end = end_of_process(self.reports, error.process)
        return Loss(error.how if end is None else words_for(end.code), error.process, error.subtask)

    def _end_of(self, task: FailedTask) -> End | None:
        return None if self.reports is None else end_in(self.reports, task.number)

    def _take_acknowledgements(self, results: list[Item]) -> list[Item]:
        """Return the results of an epoch without the acknowledgements, which show that the epoch counts."""
        acknowledgements = [
            TaskAcknowledgement(*pickle.loads(item.payload)) for item in results if item.edge == ACKNOWLEDGEMENT
        ]
        found = difference(acknowledgements, self.partitions)
        if found is not None:
            raise FlintstreamError(
                f"Spark ran part of an epoch of '{self.plan.job_name}' again, so the epoch does not count: {found}"
            )
        self.moved = sum(acknowledgement.moved for acknowledgement in acknowledgements)
        self.placement.ran(acknowledgements, time.monotonic())
        return [item for item in results if item.edge != ACKNOWLEDGEMENT]

    def materialize(self, task: Materialization) -> Future[StateHandle]:
        """Materialize the changelog of a subtask in a separate Spark job, which takes one slot."""
        future: Future[StateHandle] = Future()
        assert self.shipment is not None  # noqa: S101 - the job runs
        call = MaterializeTask(self.shipment.job, task)
        self._make_room()

        def run() -> None:
            try:
                self.context.setJobGroup(f"{self.plan.job_id}-log", "materialization", interruptOnCancel=True)
                self.context.setLocalProperty(SLOT_OF, None)  # do not occupy a subtask's slot
                future.set_result(self.context.parallelize([0], 1).map(call).collect()[0])
            except Exception as error:  # noqa: BLE001 - the coordinator handles it
                future.set_exception(error)

        threading.Thread(target=run, name=f"flintstream-materialize-{self.plan.job_name}", daemon=True).start()
        return future

    def run_tasks(self, functions: Sequence[Callable[[], Result]]) -> list[Result]:
        """Run functions as the tasks of a separate Spark job."""
        self._make_room()
        with plainly():
            if self.context is None or not is_alive(self.context):
                self.context = self._connect(self.tasks_group, "tasks")
            # Not in the group of the epochs: what has begun to commit must not be cancelled with them.
            self.context.setJobGroup(self.tasks_group, "tasks", interruptOnCancel=False)
            self.context.setLocalProperty(SLOT_OF, self.slots)  # free between epochs, and they may keep connections
            return results_of(functions, self.context)

    def _make_room(self) -> None:
        """Let other Spark jobs have the cores of resident tasks."""
        if self.residency is not None:
            self.residency.make_room()

    def forget(self, names: Sequence[str]) -> None:
        """Delete state that later epochs do not need."""
        if self.job_log is not None:
            self.job_log.forget(names)

    def cancel(self) -> None:
        """Cancel the running Spark job."""
        self.cancelled = True
        if self.context is not None:
            for group in self.groups:
                self.context.cancelJobGroup(group)

    def stop(self) -> None:
        """Remove temporary data of the job; the Spark context remains for later jobs."""
        if self.residency is not None:
            self.residency.close()
            self.residency = None
        drain_lines()
        for group in self.groups[1:]:  # folds that no job waits for
            with contextlib.suppress(Exception):  # the context may have died, or never started
                self.context.cancelJobGroup(group)
        if self.shipment is not None:
            self.shipment.close()
        if self.job_log is not None:
            self.job_log.close()
        self.shipment = self.job_log = None
        if self.slot_namespace is not None:
            release_namespace(self.slot_namespace)
            self.slot_namespace = None
