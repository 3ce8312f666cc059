"""One subtask of one chain, which runs its operators epoch by epoch."""

from __future__ import annotations

import math
import os
import time
import uuid
from typing import TYPE_CHECKING

from flintstream.common._user_code.forks import leave_if_forked
from flintstream.errors import CorruptCheckpointError, PickleRefusedError
from flintstream.runtime.block_size import is_slow
from flintstream.runtime.epoch import Epoch
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.plan import RECORDS_PER_BLOCK
from flintstream.runtime.protocol import Report
from flintstream.runtime.state_log.pieces import without_known
from flintstream.runtime.state_log.subtask_state import SubtaskState
from flintstream.runtime.task.batch_input import BatchInput
from flintstream.runtime.task.operator_chain import OperatorChain
from flintstream.runtime.task.refused_pickles import with_name_of_operator, without_pickle
from flintstream.runtime.task.streaming_input import StreamingInput

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from flintstream.checkpoint.metadata import StatePiece
    from flintstream.runtime.exchange.receiving import InputGate, Item
    from flintstream.runtime.plan import ChainPlan, JobPlan
    from flintstream.runtime.protocol import Instruction, NodeReport, StateHandle
    from flintstream.runtime.state_log.log import StateLog

TURN_SECONDS = 0.1
"""Longest turn of a source before the chain's next source is read; a full block ends the turn earlier.

In BATCH mode, only a full block ends it: nothing waits for other sources, and the order is the same on a slow machine.
"""

SLOW_EPOCH_SECONDS = 0.1
"""Shorter epochs do not tell whether functions are slow: the time may have gone into something else."""


class Subtask:
    """A chain's operators in one task. The worker keeps it between epochs as a cache."""

    def __init__(self, job: JobPlan, chain: ChainPlan, index: int, log: StateLog) -> None:
        """Unpickle the operators and wire them up."""
        self.job = job
        self.chain = chain
        self.index = index
        self.version: str | None = None
        """Version of the state in memory; None while an epoch runs, and after an epoch has failed."""
        self.opened = False
        self.finished = False
        """Whether all input has ended."""
        self.caught_up = False
        """Whether the state of this epoch had to be read again."""
        self.operator_chain = OperatorChain(job, chain, index)
        self.operators = self.operator_chain.operators
        self.input = (
            BatchInput(self.operator_chain)
            if job.batch
            else StreamingInput(self.operator_chain, job.settings.max_epoch_ms)
        )
        valves = {place: item.valve for place, item in self.operator_chain.inputs.items()}
        self.state = SubtaskState(job, chain, index, self.operators, valves, log)

    def run(self, instruction: Instruction, gate: InputGate, *, waits: bool = True) -> Iterator[Item | Report]:
        """Run one epoch: yield the items for later supersteps, then the report. Sources may wait if ``waits``."""
        steps = self._run(instruction, gate, waits=waits)
        return without_pickle(steps, self.chain, self.index) if self.job.settings.state.refuse_pickle else steps

    def _run(self, instruction: Instruction, gate: InputGate, *, waits: bool) -> Generator[Item | Report]:
        owner = os.getpid()
        version = f"{instruction.epoch}-{instruction.attempt}-{uuid.uuid4().hex[:8]}"
        self._recover(instruction)
        tracks_changes = not self.state.writes_all(instruction)
        epoch = Epoch.of(instruction, self.job.settings, version, tracks_changes=tracks_changes, waits=waits)
        self.version = None  # until the epoch ends, the state in memory belongs to no version
        self._begin(epoch, instruction)
        began, outbox = time.monotonic(), self.operator_chain.outbox
        for _ in self._consume(epoch, gate):
            leave_if_forked(owner)
            yield from outbox
            outbox.clear()
        self.operator_chain.tick()
        if self.operator_chain.ended:
            self.finished = True
            epoch = epoch._replace(end_of_input=True)
        told = [operator.end_epoch(epoch) for operator in self.operators.values()]
        if self.finished:
            for operator in self.operators.values():
                operator.close()
        leave_if_forked(owner)
        spent = time.monotonic() - began
        for end in self.operator_chain.exchanges:
            end.flush()
        yield from outbox
        outbox.clear()
        yield self._report(instruction, version, told, spent)

    def _recover(self, instruction: Instruction) -> None:
        """Bring the state in memory to the version that the epoch starts from."""
        self.caught_up = instruction.version not in (None, self.version)
        if instruction.version is None:
            if instruction.restore is not None:
                try:
                    self.state.restore(instruction.restore)
                except CorruptCheckpointError as error:  # a retry would not help
                    raise OperatorFailure(self.chain.name, self.index, error, None) from error
        elif self.caught_up:
            self.finished = self.state.catch_up(instruction, self.version)

    def _begin(self, epoch: Epoch, instruction: Instruction) -> None:
        self.operator_chain.begin_epoch()
        for node, operator in self.operators.items():
            operator.begin_epoch(epoch, instruction.new_splits.get(node, ()))
        if not self.opened:
            self.opened = True
            for operator in reversed(self.operators.values()):
                operator.context.runtime_context.begin_attempt(instruction.attempt)
                operator.open()

    def _consume(self, epoch: Epoch, gate: InputGate) -> Iterator[None]:
        """Feed items from exchanges, then read sources in turn; yield whenever items may be ready to send."""
        yield from self.input.feed(epoch, gate)
        tick, alternates = self.operator_chain.tick, self.operator_chain.alternates
        records = {run: 0 for operator in self.operators.values() if (run := operator.reads()) is not None}
        longest = math.inf if self.job.batch else TURN_SECONDS
        while records:
            for run in list(records):
                enough, until = records[run] + RECORDS_PER_BLOCK, time.monotonic() + longest
                for read in run:
                    tick()
                    yield
                    if alternates or read >= enough or time.monotonic() >= until:
                        records[run] = read
                        break
                else:
                    del records[run]

    def _report(self, instruction: Instruction, version: str, told: list[NodeReport], spent: float) -> Report:
        handles, operator_state = instruction.handles, None
        started = time.monotonic()
        if instruction.keep_state and not self.finished:
            handles = self.state.log(instruction, version)
            operator_state = self.state.operator_state(finished=self.finished)
        elif instruction.snapshot is not None and instruction.snapshot.form == "log":
            handles = self.state.log(instruction, version)  # a final time, because the checkpoint refers to the log
        pieces, snapshot_error = self._snapshot(instruction, handles, version)
        state_ms = int((time.monotonic() - started) * 1000)
        self.version = version
        fed = self.input.fed
        return Report(
            chain=self.chain.id,
            subtask=self.index,
            version=version,
            nodes=self.operator_chain.complete_reports(told),
            operator_state=operator_state,
            handles=without_known(handles, instruction.handles),
            finished=self.finished,
            watermark=self.operator_chain.watermark,
            pieces=pieces,
            state_ms=state_ms,
            left=tuple(self.input.left),
            spent_ms=spent * 1000,
            slow=spent > SLOW_EPOCH_SECONDS and fed > 0 and is_slow(fed, spent),
            snapshot_error=snapshot_error,
            caught_up=self.caught_up,
        )

    def _snapshot(
        self, instruction: Instruction, handles: tuple[StateHandle, ...], attempt: str
    ) -> tuple[tuple[StatePiece, ...] | None, str]:
        """Write the state for a checkpoint; an error fails the checkpoint, not the epoch."""
        if instruction.snapshot is None:
            return None, ""
        pieces: list[StatePiece] = []
        name = f"{self.chain.id}-{self.index}-{attempt}"
        try:
            pieces.extend(self.state.snapshot(instruction.snapshot, handles, name))
        except Exception as error:  # noqa: BLE001 - storages raise arbitrary errors
            if isinstance(error, PickleRefusedError):
                error = with_name_of_operator(error, self.chain)
            # The pieces already written are still returned, so that the driver can delete them.
            return tuple(pieces), f"subtask {self.index} of '{self.chain.name}': {type(error).__name__}: {error}"
        return tuple(pieces), ""

    def release(self) -> None:
        """Release the resources that operators hold outside memory; do not use this object afterwards."""
        for operator in self.operators.values():
            operator.release()
