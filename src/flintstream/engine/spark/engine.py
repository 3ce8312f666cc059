"""Engine that runs each epoch as one Spark job: a linear chain of RDDs with a stage per superstep."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.settings import state_directory
from flintstream.common import _by_value
from flintstream.engine.spark.dependencies import with_dependencies
from flintstream.engine.spark.homes import Homes
from flintstream.engine.spark.jvm import Executors, StageChain
from flintstream.engine.spark.receipts import RECEIPT, Receipt, difference
from flintstream.engine.spark.session import spark_context
from flintstream.engine.spark.slots import DAEMON, SLOT_OF, release_lane, slot_template, take_lane, with_own_workers
from flintstream.engine.spark.worker import PLAN, MaterializeTask, StageTask
from flintstream.errors import FlintstreamError, JobCancelledError
from flintstream.options.execution import STATE_DIRECTORY
from flintstream.runtime.exchange.receiving import Item
from flintstream.runtime.protocol import SHARED
from flintstream.runtime.state_log.log import DirectoryStateLog, DurableStateLog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.coordinator.materializer import Folding
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import StateHandle
    from flintstream.runtime.state_log.log import StateLog


class SparkEngine:
    """Runs a job on a Spark context."""

    def __init__(self, configuration: Mapping[str, str]) -> None:
        """Create an engine for one job."""
        self.configuration = configuration
        self.cancelled = False
        self.context: Any = None
        self.state_directory: str | None = None
        self.lane: int | None = None
        self.slots: str | None = None

    def start(self, plan: JobPlan) -> None:
        """Get the Spark context and ship the plan."""
        self.plan = plan
        self.context = with_dependencies(spark_context(self.configuration), self.configuration)
        self.state_directory = self._create_state_directory()
        changelog = plan.settings.changelog
        self.log: StateLog = (
            DirectoryStateLog(self.state_directory) if changelog is None else DurableStateLog(changelog, SHARED)
        )
        # A file, because a broadcast variable belongs to a connection and not to the process behind it.
        setup = pickle.dumps(plan.settings.process_setup.with_main(), 5)
        Path(self.state_directory, PLAN).write_bytes(setup + _by_value.dumps(plan))
        if self.context.getConf().get("spark.python.daemon.module") == DAEMON:
            self.context = with_own_workers(self.context)
            self.lane = take_lane()
            self.slots = slot_template(self.context, self.lane)
        partitions = self.partitions = [step.partitions for step in plan.supersteps]
        self.homes, self.executors = Homes(partitions), Executors(self.context)
        self.chain = StageChain(
            self.context,
            [
                (StageTask(plan.job_id, level, following, self.state_directory), following)
                for level, following in enumerate([*partitions[1:], 0])
            ],
        )

    def _create_state_directory(self) -> str:
        parent = state_directory(self.configuration)
        if parent is None and not one_machine(self.context.master):
            raise FlintstreamError(
                f"on the cluster {self.context.master}, workers exchange keyed state through files: "
                f"set '{STATE_DIRECTORY.key}' to a directory that all of them can reach",
            )
        if parent is not None:
            os.makedirs(parent, exist_ok=True)  # noqa: PTH103
        return tempfile.mkdtemp(prefix=f"flintstream-{self.plan.job_id[:8]}-", dir=parent)

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run one epoch as one Spark job."""
        if self.cancelled:
            raise JobCancelledError(f"the job '{self.plan.job_name}' was cancelled")
        context, plan = self.context, self.plan
        # Items for later supersteps travel through the exchanges, along with the first superstep's output.
        seeds: list[list[tuple[Any, ...]]] = [[] for _ in range(plan.supersteps[0].partitions)]
        for item in items:
            seeds[item.subtask % len(seeds)].append(tuple(item))
        context.setJobGroup(plan.job_id, plan.job_name, interruptOnCancel=True)
        context.setLocalProperty(SLOT_OF, self.slots)
        try:
            places = self.homes.places(self.executors.known(), time.monotonic())
            results = [Item(*item) for item in self.chain.run(seeds, places)]
        except Exception as error:
            if self.cancelled:
                raise JobCancelledError(f"the job '{plan.job_name}' was cancelled") from error
            raise
        return self._checked(results)

    def _checked(self, results: list[Item]) -> list[Item]:
        """Return the results of an epoch without the receipts, which show that the epoch counts."""
        receipts = [Receipt(*pickle.loads(item.payload)) for item in results if item.edge == RECEIPT]
        found = difference(receipts, self.partitions)
        if found is not None:
            raise FlintstreamError(
                f"Spark ran part of an epoch of '{self.plan.job_name}' again, so the epoch does not count: {found}"
            )
        self.homes.ran(receipts, time.monotonic())
        return [item for item in results if item.edge != RECEIPT]

    def materialize(self, folding: Folding) -> Future[StateHandle]:
        """Fold the changelog of a subtask in a separate Spark job, which takes one slot."""
        future: Future[StateHandle] = Future()
        task = MaterializeTask(self.plan.job_id, str(self.state_directory), folding)

        def run() -> None:
            try:
                self.context.setJobGroup(f"{self.plan.job_id}-log", "materialization", interruptOnCancel=True)
                self.context.setLocalProperty(SLOT_OF, None)  # do not occupy a subtask's slot
                future.set_result(self.context.parallelize([0], 1).map(task).collect()[0])
            except Exception as error:  # noqa: BLE001 - the coordinator handles it
                future.set_exception(error)

        threading.Thread(target=run, name=f"flintstream-materialize-{self.plan.job_name}", daemon=True).start()
        return future

    def forget(self, names: Sequence[str]) -> None:
        """Delete state that later epochs do not need."""
        for name in names:
            self.log.delete(name)

    def cancel(self) -> None:
        """Cancel the running Spark job."""
        self.cancelled = True
        if self.context is not None:
            self.context.cancelJobGroup(self.plan.job_id)
            self.context.cancelJobGroup(f"{self.plan.job_id}-log")

    def stop(self) -> None:
        """Remove temporary data of the job; the Spark context remains for later jobs."""
        if self.state_directory is not None:
            shutil.rmtree(self.state_directory, ignore_errors=True)
        if self.lane is not None:
            release_lane(self.lane)
            self.lane = None


def one_machine(master: str) -> bool:
    """Tell whether all workers of a master share this machine's directories."""
    return master.startswith("local") or any(host in master for host in ("//127.0.0.1", "//localhost"))
