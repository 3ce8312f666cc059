"""Engine that runs each epoch as one query of DataFrames on a Spark Connect server."""

from __future__ import annotations

import contextlib
import logging
import pickle
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from flintstream.common._user_code import by_value
from flintstream.coordinator.engine import Way
from flintstream.engine.connect.dependencies import WorkerSetup, send_dependencies
from flintstream.engine.connect.session import connect_session, rows_of
from flintstream.engine.connect.tasks import run_tasks
from flintstream.engine.connect.worker import SCHEMA, MaterializeTask, Stage
from flintstream.engine.spark.acknowledgements import ACKNOWLEDGEMENT, TaskAcknowledgement, difference
from flintstream.engine.spark.connect import address_of
from flintstream.engine.spark.failures.spark_errors import plainly
from flintstream.engine.spark.job_log import JobLog, epoch_of, needs_place, one_machine, require_one_machine
from flintstream.engine.spark.shipping import ship, ship_in_file
from flintstream.errors import FlintstreamError, JobCancelledError
from flintstream.options.execution import PYTHON_EXECUTABLE
from flintstream.runtime.exchange.receiving import Item
from flintstream.runtime.process_setup import ProcessSetup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from flintstream.coordinator.engine import Materialization, Result
    from flintstream.engine.connect.session import ConnectSession
    from flintstream.engine.spark.shipping import Shipment
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.protocol import StateHandle

_log = logging.getLogger(__name__)


LARGEST_IN_QUERY = 1 << 18
"""The most bytes of a plan that are part of every query, once for each of its stages."""

UNKNOWN_SLOTS = 1 << 15
"""As many slots as there can be subtasks."""


class ConnectEngine:
    """Runs a job on a Spark Connect session. It needs neither Java nor py4j in this process."""

    def __init__(self, configuration: Mapping[str, str]) -> None:
        """Create an engine for one job.

        Raises:
            FlintstreamError: The configuration names an interpreter.
        """
        if PYTHON_EXECUTABLE.read(configuration):
            raise FlintstreamError(
                f"'{PYTHON_EXECUTABLE.key}' does not work on Spark Connect, whose server chooses the interpreter: set "
                "PYSPARK_PYTHON there"
            )
        self.configuration = configuration
        self.cancelled = False
        self.session: ConnectSession | None = None
        self.setup = WorkerSetup(ProcessSetup.here())
        self.shipment: Shipment | None = None
        self.job_log: JobLog | None = None
        self.tag = f"flintstream-{uuid.uuid4().hex}"
        """Marks the queries that end with the job: its epochs and the folds of its changelog."""

    @property
    def way(self) -> Way:
        """An epoch is a query. How many tasks the server runs at a time is not known."""
        return Way("queries", UNKNOWN_SLOTS)

    def check(self, plan: JobPlan) -> None:
        """Check that the workers can exchange keyed state, before the job starts.

        Raises:
            FlintstreamError: They share neither a machine nor a store.
        """
        if needs_place(plan, self.configuration):
            require_one_machine(self._address())

    def _address(self) -> str:
        """Return the address of the server; of the program's own session, which settings need not name, its host."""
        try:
            return address_of(self.configuration)
        except FlintstreamError:
            return f"sc://{self._connect().spark.client.host}"

    def start(self, plan: JobPlan) -> None:
        """Get the session and pack the plan."""
        self.plan = plan
        with self._errors(()):
            session = self._connect()
            session.add_program()
        self.job_log = JobLog(plan, self.configuration, here=one_machine(self._address()))
        # The setup comes first: without it, a worker may be unable to unpickle the rest.
        setup = self.setup._replace(process=plan.settings.process_setup.with_main())
        data = pickle.dumps(setup, 5) + by_value.dumps((plan, self.job_log.log))
        if len(data) > LARGEST_IN_QUERY:
            self.shipment = ship_in_file(plan.job_id, session.add_data(data))
        else:
            self.shipment = ship(None, plan.job_id, data, sticky=True, one_machine=False)
        self.partitions = [step.partitions for step in plan.supersteps]
        self.by_id = session.has_direct_exchange
        self.stages = [
            Stage(self.shipment.job, level, following, by_id=self.by_id)
            for level, following in enumerate([*self.partitions[1:], 0])
        ]

    def _connect(self) -> ConnectSession:
        if self.session is None or not self.session.is_alive():
            session = connect_session(self.configuration)
            self.setup = send_dependencies(session, self.configuration)
            self.session = session
        return self.session

    @property
    def _ready(self) -> ConnectSession:
        if self.session is None:
            raise RuntimeError("the engine has not started")
        return self.session

    def run_epoch(self, items: Sequence[Item]) -> list[Item]:
        """Run one epoch as one query."""
        self._check_cancelled()
        # Items for later supersteps travel through the exchanges, along with the first superstep's output.
        seeds: dict[int, list[tuple[object, ...]]] = {}
        for item in items:
            seeds.setdefault(item.subtask % self.partitions[0], []).append(tuple(item))
        with self._errors(items):
            rows = self._run_query({partition: pickle.dumps(seed, 5) for partition, seed in seeds.items()})
        results = [Item(*item) for _, payload in rows for item in pickle.loads(payload)[2]]
        acknowledgements = [
            TaskAcknowledgement(*pickle.loads(item.payload)) for item in results if item.edge == ACKNOWLEDGEMENT
        ]
        found = difference(acknowledgements, self.partitions)
        if found is not None:
            raise FlintstreamError(
                f"Spark ran part of an epoch of '{self.plan.job_name}' again, so the epoch does not count: {found}"
            )
        return [item for item in results if item.edge != ACKNOWLEDGEMENT]

    def _run_query(self, seeds: Mapping[int, bytes]) -> list[tuple[int, bytes]]:
        count = self.partitions[0]
        frame = self._ready.spark.range(0, count, 1, count).mapInArrow(self.stages[0].first(seeds), SCHEMA)
        for partitions, stage in zip(self.partitions[1:], self.stages[1:], strict=True):
            dealt = frame.repartitionById(partitions, "key") if self.by_id else frame.repartition(partitions, "key")
            frame = dealt.mapInArrow(stage, SCHEMA)
        with self._tag_queries():
            return rows_of(frame)

    @contextlib.contextmanager
    def _tag_queries(self) -> Iterator[None]:
        """Mark the queries of this thread as those of the job."""
        spark = self._ready.spark
        spark.addTag(self.tag)
        try:
            yield
        finally:
            spark.removeTag(self.tag)

    def _check_cancelled(self) -> None:
        if self.cancelled:
            raise JobCancelledError(f"the job '{self.plan.job_name}' was cancelled")

    @contextlib.contextmanager
    def _errors(self, items: Sequence[Item]) -> Iterator[None]:
        """Say what an error of Spark means in an epoch, if it is known."""
        number = epoch_of(items)
        what = "the start" if number is None else f"epoch {number}"
        try:
            with plainly(lambda _: f"{what} of '{self.plan.job_name}' failed: "):
                yield
        except Exception as error:
            if self.cancelled:
                raise JobCancelledError(f"the job '{self.plan.job_name}' was cancelled") from error
            raise

    def materialize(self, task: Materialization) -> Future[StateHandle]:
        """Materialize the changelog of a subtask in a query of its own."""
        session, call = self._ready, MaterializeTask(self.stages[0].job, task)

        def run() -> StateHandle:
            with self._tag_queries():
                base: StateHandle = pickle.loads(session.run(1, call)[0][1])
                return base

        pool = ThreadPoolExecutor(1, f"flintstream-materialize-{self.plan.job_name}")
        future = pool.submit(run)
        pool.shutdown(wait=False)
        return future

    def run_tasks(self, functions: Sequence[Callable[[], Result]]) -> list[Result]:
        """Run functions as the tasks of a query, which cancelling the job does not stop."""
        return run_tasks(functions, self._connect(), self.setup) if functions else []

    def forget(self, names: Sequence[str]) -> None:
        """Delete state that later epochs do not need."""
        if self.job_log is not None:
            self.job_log.forget(names)

    def cancel(self) -> None:
        """Interrupt the running query."""
        self.cancelled = True
        if self.session is not None:
            self.session.spark.interruptTag(self.tag)

    def stop(self) -> None:
        """Remove temporary data of the job; the session remains for later jobs."""
        if self.session is not None:
            with contextlib.suppress(Exception):  # the server may be gone
                self.session.spark.interruptTag(self.tag)  # folds that no job waits for
        if self.shipment is not None:
            self.shipment.close()
        if self.job_log is not None:
            self.job_log.close()
        self.shipment = self.job_log = None
