"""The driver of a test harness, which runs its operators like the inline engine runs a job: one epoch per call."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypedDict

from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.common._clock import another_clock
from flintstream.connectors.source import Boundedness
from flintstream.coordinator.checkpointing.checkpoints import Checkpoints, Contents
from flintstream.coordinator.checkpointing.recovery import load, restore_plan, with_key_groups_of
from flintstream.coordinator.monitoring.metrics import JobMetrics
from flintstream.coordinator.subtasks import Subtasks, raise_failure
from flintstream.datastream._streams.steps import add_step, checked_program, transformation_of, values_of
from flintstream.datastream.data_stream import DataStream
from flintstream.datastream.output_tag import OutputTag
from flintstream.datastream.stream_execution_environment import StreamExecutionEnvironment
from flintstream.engine.inline.engine import InlineEngine
from flintstream.errors import CheckpointError
from flintstream.graph.transformation import OperatorTransformation, SourceTransformation
from flintstream.runtime.failure import FailureReport, OperatorFailure
from flintstream.runtime.protocol import Instruction, SnapshotRequest
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.testing._ends import Input, Mailbox, Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.coordinator.checkpointing.completed import Completed
    from flintstream.graph.transformation import Transformation
    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.protocol import Report, Restore


__tracebackhide__ = True
"""pytest leaves the frames of this module out of what it shows of a test that fails."""


@dataclass(frozen=True)
class Snapshot:
    """The state of a harness's operators, from which another harness can start.

    >>> from flintstream.testing.harness import KeyedHarness
    >>> def sums(numbers):
    ...     return numbers.key_by(lambda n: n % 2).reduce(lambda a, b: a + b)
    >>> with KeyedHarness(sums) as harness:
    ...     harness.process_element(1)
    ...     snapshot = harness.snapshot()
    >>> harness = KeyedHarness(sums)
    >>> harness.initialize_state(snapshot)
    >>> with harness:
    ...     harness.process_element(3)
    ...     harness.extract_output_values()
    [4]
    """

    completed: Completed
    watermarks: tuple[int, ...]
    """The event time of each input (ms)."""
    processing_time: int
    """Ms since the epoch."""

    def __repr__(self) -> str:
        """Name the operators; what they hold would fill the report of a test."""
        names = ", ".join(f"'{info.name}'" for _, info in self.completed.metadata.operators().values())
        return f"<Snapshot of {names} at {self.processing_time} ms>"


class HarnessSettings(TypedDict, total=False):
    """Settings of the environment in which the operators of a harness run.

    >>> from flintstream.testing.harness import OneInputHarness
    >>> with OneInputHarness(lambda numbers: numbers.map(lambda n: n * n), max_parallelism=16) as harness:
    ...     harness.process_element(3)
    ...     harness.extract_output_values()
    [9]
    """

    parallelism: int
    """The number of subtasks (1 by default); records are distributed to them as in a job."""
    max_parallelism: int
    """The number of key groups."""
    side_outputs: Sequence[OutputTag]
    """The tags whose records ``get_side_output`` can return."""
    configuration: Mapping[str, str]
    """Settings of the environment, such as ``{"state.backend.type": "rocksdb"}``."""


class Driver:
    """A program between mailboxes, and its clock."""

    def __init__(
        self, build: Callable[..., DataStream], types: Sequence[TypeInformation | None], settings: HarnessSettings
    ) -> None:
        """Build the program and plan it as a job."""
        if unknown := settings.keys() - HarnessSettings.__annotations__.keys():
            raise TypeError(
                f"a harness has no setting {min(unknown)!r}, only {sorted(HarnessSettings.__annotations__)}"
            )
        tags = settings.get("side_outputs", ())
        for tag in tags:
            if not isinstance(tag, OutputTag):
                raise TypeError(f"side_outputs needs OutputTags, but got {tag!r}")
        self.inputs = [Mailbox() for _ in types]
        self.watermarks = [MIN_TIMESTAMP for _ in types]
        self.output = Mailbox()
        self.sides = {tag.tag_id: Mailbox() for tag in tags}
        self.now = 0
        self.closed = False
        self.failure = ""
        self.engine = InlineEngine()
        self._subtasks: Subtasks | None = None
        """None before the first epoch."""
        self._restore: Restore | None = None
        self._epochs = 0
        env = _environment(settings)
        self.tested = self._build(env, build, types, tags)
        self.plan = checked_program(env).compile("test harness").plan
        self.chain = next(c for c in self.plan.chains if any(node.id == self.tested.id for node in c.nodes))
        self.metrics = JobMetrics.of(self.plan)

    def _build(
        self,
        env: StreamExecutionEnvironment,
        build: Callable[..., DataStream],
        types: Sequence[TypeInformation | None],
        tags: Sequence[OutputTag],
    ) -> OperatorTransformation:
        """Connect the program to inputs and recorders; return its last step."""
        sources = [
            SourceTransformation(
                f"Input {number}", (), declared, operator=Input(mailbox), parallelism=1, uid=f"harness input {number}",
                boundedness=Boundedness.CONTINUOUS_UNBOUNDED,
            )
            for number, (mailbox, declared) in enumerate(zip(self.inputs, types, strict=True), start=1)
        ]  # fmt: skip
        result = build(*(DataStream(env, source) for source in sources))
        if not isinstance(result, DataStream):
            raise TypeError(
                f"the function passed to a harness must return the DataStream it builds, but got {result!r}"
            )
        tested = _last_step(transformation_of(result))
        if not isinstance(tested, OperatorTransformation):
            raise TypeError(
                "the function passed to a harness must apply an operation to its input stream, but returns it unchanged"
            )
        _record(env, tested, result, Recorder(self.output))
        for tag in tags:
            _record(env, tested, result.get_side_output(tag), Recorder(self.sides[tag.tag_id], records_only=True))
        return tested

    # -- epochs ------------------------------------------------------------------------------------------------------

    def run(self, *, snapshot: SnapshotRequest | None = None, drain: bool = False) -> list[Report]:
        """Run an epoch: read the mailboxes, and fire timers that are due.

        Raises:
            Exception: A user's function raised it.
        """
        self.check_usable()
        if self._subtasks is None:
            self.engine.start(self.plan)
            self._subtasks = Subtasks(self.plan, self.engine, self._restore)
        reports = self._epoch(self._subtasks, snapshot, drain=drain)
        while self._subtasks.left:  # input that slow functions had no time for
            self._epoch(self._subtasks)
        return reports

    def _epoch(
        self, subtasks: Subtasks, snapshot: SnapshotRequest | None = None, *, drain: bool = False
    ) -> list[Report]:
        self._epochs += 1
        instruct = partial(Instruction, epoch=self._epochs, snapshot=snapshot, drain=drain, keep_state=False)
        try:
            with self.clock():
                reports = subtasks.run_epoch(instruct)
        except BaseException as error:
            self.failure = f"{type(error).__name__}: {error}"
            raise
        subtasks.take_over(reports, self.now)
        for report in reports:
            self.metrics.add(report)
        return reports

    @property
    def opened(self) -> bool:
        """Whether an epoch has run."""
        return self._subtasks is not None

    @property
    def ended(self) -> bool:
        """Whether all input of the tested operator has ended."""
        return self._subtasks is not None and self._subtasks.states[self.chain.id, 0].finished

    def check_usable(self) -> None:
        """Refuse further input if the harness cannot process it.

        Raises:
            RuntimeError: The harness is closed, its input has ended, or a function has failed.
        """
        if self.closed:
            raise RuntimeError("the harness is closed: create another one")
        if self.failure:
            raise RuntimeError(
                f"a function has failed before ({self.failure}), which ends a job: to continue as after a restart, "
                "create another harness and call initialize_state() with a snapshot"
            )
        if self.ended:
            raise RuntimeError("the input of the harness has ended, and its state is gone: create another harness")

    def clock(self) -> AbstractContextManager[None]:
        """Make this thread use the time of the harness."""
        return another_clock(lambda: self.now)

    # -- what the operators hold -------------------------------------------------------------------------------------

    def operators(self) -> list[Operator]:
        """Return the tested operator of each subtask."""
        self.check_usable()
        if not self.opened:
            self.run()
        subtasks = self.engine.runtime.subtasks
        return [subtasks[self.chain.id, n].operators[self.tested.id] for n in range(self.chain.parallelism)]

    def snapshot(self) -> Snapshot:
        """Return the state of the operators, as in a savepoint."""
        request = SnapshotRequest(self._epochs, "full", None, inline_below=sys.maxsize)
        reports = self.run(snapshot=request)
        checkpoints = Checkpoints(CheckpointSettings(), self.plan, self.now)
        completed = checkpoints.complete_savepoint(request, reports, Contents(self.plan.chains, {}, {}), self.now)
        return Snapshot(completed, tuple(self.watermarks), self.now)

    def restore(self, snapshot: Snapshot | str) -> None:
        """Start from a snapshot, or from the path of a job's savepoint: operators restore the state of their uid."""
        self.check_usable()
        if self.opened:
            raise RuntimeError("initialize_state() must be called before open() and before any input is processed")
        if isinstance(snapshot, str):
            completed, settings = load(snapshot), CheckpointSettings(allow_non_restored=True)
        else:
            completed, settings = snapshot.completed, CheckpointSettings()
            self.now = max(self.now, snapshot.processing_time)
            if len(snapshot.watermarks) == len(self.watermarks):
                self.watermarks = list(snapshot.watermarks)
        self.plan = with_key_groups_of(completed, self.plan)
        self.chain = next(chain for chain in self.plan.chains if chain.id == self.chain.id)
        self._restore = restore_plan(completed, self.plan, settings)
        if not self._restore.operators:
            there = ", ".join(
                sorted(f"'{info.name}' (uid {uid})" for uid, (_, info) in completed.metadata.operators().items())
            )
            raise CheckpointError(
                f"{completed.where} has no operator with the uid of '{self.tested.name}', only {there}: set the "
                "uid it had (DataStream.uid)"
            )

    def close(self) -> None:
        """Close the functions and release all resources."""
        if self.closed:
            return
        self.closed = True
        if self._subtasks is None:
            return
        try:
            with ExitStack() as stack:
                stack.callback(self.engine.stop)
                stack.enter_context(self.clock())
                for subtask in self.engine.runtime.subtasks.values():
                    for operator in subtask.operators.values():
                        stack.callback(operator.close)
        except OperatorFailure as failure:
            raise_failure(FailureReport.of(failure))


def _environment(settings: HarnessSettings) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment.get_execution_environment(settings.get("configuration"))
    env.set_parallelism(settings.get("parallelism", 1))
    if "max_parallelism" in settings:
        env.set_max_parallelism(settings["max_parallelism"])
    return env


def _record(
    env: StreamExecutionEnvironment, tested: OperatorTransformation, stream: DataStream, recorder: Recorder
) -> None:
    end = values_of(stream)
    add_step(
        env,
        OperatorTransformation(
            "Output", (end,), end.output_type, operator=recorder, kind="ENGINE", parallelism=tested.parallelism
        ),
    )


def _last_step(transformation: Transformation) -> Transformation:
    while transformation.virtual:
        transformation = transformation.inputs[0]
    return transformation
