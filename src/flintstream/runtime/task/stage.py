"""One task of one superstep: it feeds items to their chains and carries the rest along."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING

from flintstream.common._user_code.forks import leave_if_forked
from flintstream.common._user_code.pickling import dumps
from flintstream.errors import JobFailedError, is_interrupt
from flintstream.runtime.exchange.blocks import unpack
from flintstream.runtime.exchange.receiving import InputGate, Item
from flintstream.runtime.failure import FailureReport, OperatorFailure
from flintstream.runtime.logs import enter_place
from flintstream.runtime.protocol import INSTRUCTION, REPORT, SHARED, Report
from flintstream.runtime.state_log.log import DurableStateLog
from flintstream.runtime.task.log_place import place_of
from flintstream.runtime.task.subtask import Subtask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flintstream.runtime.plan import ChainPlan, JobPlan
    from flintstream.runtime.protocol import Instruction, StateHandle
    from flintstream.runtime.state_log.log import StateLog


class JobRuntime:
    """A job inside one process: its plan and the subtasks that ran here, kept for their next epoch."""

    def __init__(self, plan: JobPlan, log: StateLog) -> None:
        """Prepare to run subtasks of ``plan``."""
        self.plan = plan
        changelog = plan.settings.changelog
        self.log = log if changelog is None else DurableStateLog(changelog, SHARED)
        self.chains = {chain.id: chain for chain in plan.chains}
        self.subtasks: dict[tuple[int, int], Subtask] = {}
        self.read = 0
        """How many records subtasks here have read or received."""

    def run_stage(self, level: int, partition: int, items: Iterable[Item], *, waits: bool = True) -> Iterator[Item]:
        """Run one task of superstep ``level``: consume its items, and yield those for later levels.

        Args:
            level: The superstep.
            partition: The subtask.
            items: Instructions and input, and items for later levels.
            waits: Whether sources may wait for input.
        """
        chain_of_edge = {e.id: c.id for c in self.plan.supersteps[level].chains for e in c.inputs}
        gates: dict[int, InputGate] = {}
        instructions: list[Instruction] = []
        for item in items:
            if item.level != level:
                yield item
            elif item.edge == INSTRUCTION:
                instructions.append(pickle.loads(item.payload))
            else:
                gates.setdefault(chain_of_edge[item.edge], InputGate()).add(item)
        instructions.sort(key=lambda instruction: instruction.chain)
        for instruction in instructions:
            assert instruction.subtask == partition  # noqa: S101
            gate = gates.pop(instruction.chain, None) or InputGate()
            try:
                yield from self._run(instruction, gate, waits=waits)
            finally:
                gate.close()
        for chain, gate in gates.items():
            self._refuse(chain, gate)

    def _refuse(self, chain: int, gate: InputGate) -> None:
        """Close the gate of a chain without an instruction; it may hold marks, but no records."""
        lost = sum(len(unpack(item.payload).values) for item in gate.streaming({}))
        gate.close()
        if lost:
            raise JobFailedError(f"{lost} records were sent to '{self.chains[chain].name}', which had already ended")

    def _run(self, instruction: Instruction, gate: InputGate, *, waits: bool) -> Iterator[Item]:
        chain, owner = self.chains[instruction.chain], os.getpid()
        enter_place(place_of(self.plan, chain, instruction))
        try:
            subtask = self._take(chain, instruction)
        except BaseException as error:  # noqa: BLE001 - reported or re-raised
            leave_if_forked(owner, _cause(error))
            yield self._report_failure(error, chain, instruction)
            return
        run = subtask.run(instruction, gate, waits=waits)
        while True:
            try:
                produced = next(run, None)
            except BaseException as error:  # noqa: BLE001 - reported or re-raised
                leave_if_forked(owner, _cause(error))
                subtask.release()
                yield self._report_failure(error, chain, instruction)
                return
            if produced is None:
                break
            if isinstance(produced, Report):
                self.read += sum(node.records for node in produced.nodes)
            try:
                yield self._report_item(produced) if isinstance(produced, Report) else produced
            except BaseException:  # the epoch is incomplete, so its state must not be reused
                subtask.release()
                raise
        if subtask.finished:
            subtask.release()
        else:
            self.subtasks[instruction.chain, instruction.subtask] = subtask

    def _take(self, chain: ChainPlan, instruction: Instruction) -> Subtask:
        """Return a subtask to run.

        A subtask leaves the cache while it runs: a failed attempt must leave nothing behind that a retry could take
        for valid.
        """
        subtask = self.subtasks.pop((instruction.chain, instruction.subtask), None)
        if subtask is not None:
            if instruction.version is not None or subtask.version is None:
                return subtask
            subtask.release()
        return Subtask(self.plan, chain, instruction.subtask, self.log)

    def _report_failure(self, error: BaseException, chain: ChainPlan, instruction: Instruction) -> Item:
        """Report why a subtask failed; re-raise interrupts and I/O errors of the engine, which retry the task."""
        cause = _cause(error)
        if is_interrupt(cause):
            raise cause
        if not isinstance(error, OperatorFailure):
            if isinstance(error, OSError):
                raise error
            error = OperatorFailure(chain.name, instruction.subtask, error, None)
        return self._report_item(
            Report(chain.id, instruction.subtask, "", failure=FailureReport.of(error)),
        )

    def close(self) -> None:
        """Release all subtasks, because the job has ended or restarts."""
        for subtask in self.subtasks.values():
            subtask.release()
        self.subtasks.clear()

    def materialize(self, chain: int, subtask: int, handles: Sequence[StateHandle]) -> StateHandle:
        """Materialize the changelog of a subtask; see :mod:`flintstream.runtime.state_log.materialize`."""
        from flintstream.runtime.state_log.materialize import materialize

        if not isinstance(self.log, DurableStateLog):
            raise TypeError(f"{type(self.log).__name__} is not a changelog")
        return materialize(self.plan.settings.state, self.log, self.chains[chain], subtask, handles)

    def _report_item(self, report: Report) -> Item:
        return Item(len(self.plan.supersteps), 0, REPORT, report.chain, report.subtask, 0, dumps(report))


def _cause(error: BaseException) -> BaseException:
    return error.error if isinstance(error, OperatorFailure) else error


def instruction_item(level: int, instruction: Instruction) -> Item:
    """Address an instruction to its subtask."""
    return Item(level, instruction.subtask, INSTRUCTION, 0, 0, 0, _pickle_instruction(instruction))


def _pickle_instruction(instruction: Instruction) -> bytes:
    if not instruction.new_splits:
        return pickle.dumps(instruction, 5)
    from flintstream.common._user_code import by_value

    # The user's script may define the class of a split, and workers cannot import that.
    return by_value.dumps(instruction, names=False)
