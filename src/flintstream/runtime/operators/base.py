"""The contract between an operator and the subtask that runs it.

Records move through a subtask in *blocks*: a list of values and, beside it, a list of timestamps in milliseconds (or
``None`` when no record of the block has one). A watermark between two records splits a block, so an operator
sees records and watermarks in exactly the order in which its upstream produced them.

Two rules keep blocks as safe as record-at-a-time processing:

* an operator never mutates the lists it receives, and
* an operator emits copies of objects that may still change (user state, a generator's buffer)
  (:func:`flintstream.runtime.copies.copy_mutable`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from flintstream.metrics.reported import Counted
from flintstream.runtime.block_interrupter import BlockInterrupter
from flintstream.runtime.copies import ATOMS, frozen_classes
from flintstream.runtime.plan import RECORDS_PER_BLOCK
from flintstream.runtime.protocol import NodeReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.metrics.reported import Reported
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.operators.contexts import StreamingRuntimeContext
    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.state.backend import KeyedStateBackend
    from flintstream.storage.file_store import FileStore


class Output(Protocol):
    """The receiver of an operator's results: the next operator, an exchange, or several of them."""

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block of records. The receiver takes ownership of the lists."""

    def emit_watermark(self, timestamp: int) -> None:
        """Declare that no record older than ``timestamp`` (ms) follows."""

    def emit_idle(self, idle: bool) -> None:
        """Declare this output idle (its watermark no longer holds others back) or active again."""


@dataclass(slots=True)
class OperatorContext:
    """The environment that a subtask gives each of its operators."""

    name: str
    subtask: int
    parallelism: int
    max_parallelism: int
    batch: bool
    """True in BATCH mode: one key at a time, and only the last watermark."""
    runtime_context: StreamingRuntimeContext
    state: KeyedStateBackend | None = None
    """The keyed state of this operator and subtask; None on a non-keyed stream."""
    timers: InternalTimerService | None = None
    """The timers of this operator and subtask; None on a non-keyed stream."""
    side_tags: frozenset[str] = field(default_factory=frozenset)
    """Ids of the side outputs that the program requested with ``get_side_output``."""
    identity: str = ""
    """The job's id and the operator's uid."""
    auto_watermark_interval_ms: int = 200
    """Interval between periodic watermarks; 0 disables them."""
    metrics: dict[str, int] = field(default_factory=dict)
    """The engine's counters in this epoch, such as ``numLateRecordsDropped``."""
    warning: str | None = None
    """A warning for the user from this epoch, shown once per operator."""
    node: int = 0
    """The operator's id in the plan."""
    block: int = RECORDS_PER_BLOCK
    """The most records in a block."""
    alternates: bool = False
    """The sources of this chain take turns at first, one record at a time."""
    broadcasts: bool = False
    """This operator's records reach a broadcast, directly or through other operators."""
    staging: FileStore | None = None
    """Storage for what sinks have prepared; None if checkpoints have no directory."""
    commit_with_checkpoint: bool = False
    """Sinks commit when a checkpoint completes, not after every epoch."""

    def warn(self, what: str) -> None:
        """Warn the user about this operator."""
        self.warning = f"operator '{self.name}': {what}"

    def take_warning(self) -> str | None:
        """Return and clear the pending warning."""
        warning, self.warning = self.warning, None
        return warning

    def take_metrics(self) -> dict[str, Reported]:
        """Return the engine's counters and the user's metrics to report since the last call."""
        own: dict[str, Reported] = {name: Counted(count) for name, count in self.metrics.items()}
        self.metrics.clear()
        return own | self.runtime_context.get_metrics_group().take()


class Operator:
    """One operator in one subtask. Subclasses override what they need.

    Life cycle: the task unpickles the operator, calls :meth:`setup`, and :meth:`restore` if there is state to
    restore. Epochs follow, from :meth:`begin_epoch` to :meth:`end_epoch`, with any number of blocks and watermarks.
    :meth:`open` comes right after the first :meth:`begin_epoch`, :meth:`close` right after the last :meth:`end_epoch`.
    :meth:`release` comes at the very end, or when an epoch fails.
    """

    keeps_state: ClassVar[bool] = False
    """Whether dropping the result of :meth:`snapshot` would lose something."""

    one_for_one: ClassVar[bool] = False
    """Whether it emits exactly one record for each input record."""

    passes_records: ClassVar[bool] = False
    """Whether it emits the records that it receives, so that they still have the type of its input."""

    alternates: ClassVar[bool] = False
    """Whether the sources of its chain should take turns at first, one record at a time."""

    method: ClassVar[str | None] = None
    """The function's method that does all the work, so that one loop can replace several operators in a row."""

    groups_records: ClassVar[bool] = False
    """Whether it handles the records of a block in groups, such as by key, so that larger blocks cost less."""

    takes_any_order: ClassVar[bool] = False
    """Whether many records of several keys may come in any order in BATCH mode; the keys end together."""

    gives_blocks: ClassVar[bool] = False
    """Whether it produces blocks, and emits again the part that the next function left (see :attr:`interrupter`)."""

    can_be_cut: ClassVar[bool] = False
    """Whether its loop reports to :attr:`interrupter`, which can then stop it in the middle of a block."""

    finished: bool = True
    """Whether nothing is left to read: False for a source until it has forwarded the end of its input."""

    declared_type: TypeInformation | None = None
    """The result type that the user declared; results are converted to it after the operator."""
    frozen: frozenset[type]
    """Classes whose instances may be emitted without a copy."""

    context: OperatorContext
    output: Output
    interrupter: BlockInterrupter
    """Exposes the loop that the operator is in."""
    side_outputs: Mapping[str, Output]

    @property
    def takes_columns(self) -> bool:
        """Whether blocks from exchanges may come as sequences that make a record when it is asked for."""
        return False

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Receive the context and the outputs. Called once, before anything else."""
        self.context = context
        self.output = output
        self.interrupter = BlockInterrupter()
        self.side_outputs = side_outputs
        self.frozen = ATOMS if side_outputs else frozen_classes(self.declared_type)

    def on_upstream(self, upstream: Operator, *, directly: bool) -> None:
        """Learn that records of ``upstream`` arrive within the chain, ``directly`` or through other operators."""

    def on_inputs(self, is_over: Callable[[int], bool]) -> None:
        """Learn how to ask whether the event time of an input has ended since the state was restored."""

    def on_watermark_generator(self, generator: Any) -> None:
        """Learn of a downstream watermark generator, which may make splits of this operator wait for others."""

    def passes_blocks(self) -> bool:
        """Return whether it forwards blocks unchanged and lets the next function leave the rest of a block."""
        return False

    def freeze_keys(self) -> None:
        """Convert keys to a hashable form from now on."""

    def begin_block(self, number: int, *, last: bool) -> None:
        """Learn in BATCH mode that a block of an input comes; it is the ``last`` input if the other one is complete.

        Only an operator that takes records in any order gets such blocks.
        """

    def open(self) -> None:
        """Open the user's function. Called once per subtask and worker."""

    # -- an epoch ----------------------------------------------------------------------------------------------------

    def begin_epoch(self, epoch: Epoch, given: Sequence[Any]) -> None:
        """Begin an epoch. ``given`` contains new splits for a source."""

    def reads(self) -> Iterator[int] | None:
        """Return an iterator that reads the epoch's input, or None if all input comes from other operators.

        Each step emits something and yields the number of records so far.
        """
        return None

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process one block of the first or only input."""
        raise NotImplementedError

    def process_second(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process one block of the second input of a two-input operator."""
        raise NotImplementedError

    def process_watermark(self, timestamp: int) -> None:
        """Advance event time: fire due work, then forward the watermark."""
        self.output.emit_watermark(timestamp)

    def restore_watermark(self, timestamp: int) -> None:
        """Take the event time (ms) after :meth:`restore`, without forwarding it: downstream operators know it."""

    def process_idle(self, idle: bool) -> None:
        """React when all inputs become idle, or one becomes active again."""
        self.output.emit_idle(idle)

    def on_processing_time(self, now: int) -> None:
        """Fire processing-time work that is due at ``now`` (ms since the epoch). Called between blocks."""

    def next_processing_time(self) -> int | None:
        """Return when to call :meth:`on_processing_time` next (ms since the epoch), even without input."""
        return None

    def end_key(self, key: Any) -> None:
        """Emit the last results of a complete key and drop its state (BATCH mode)."""
        raise NotImplementedError

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Emit or prepare everything that must not wait for the next epoch, and report to the driver.

        Upstream operators in the chain have already ended the epoch. The subtask adds records, metrics and warnings.
        """
        return NodeReport(
            self.context.node,
            {},
            next_processing_time=None if epoch.end_of_input else self.next_processing_time(),
        )

    # -- state -------------------------------------------------------------------------------------------------------

    def snapshot(self) -> object | None:
        """Return small, picklable non-keyed state for :meth:`restore` in the next epoch, on any worker."""
        return None

    def restore(self, state: object) -> None:
        """Restore the state that :meth:`snapshot` returned at the end of the previous epoch."""

    def recover(self, states: Sequence[Any], subtask: int, parallelism: int, *, same: bool) -> None:
        """Restore from a checkpoint: this subtask's own state if the parallelism is the ``same``, else all states."""
        self.restore(states[0] if same else self.redistribute(states, subtask, parallelism))

    def redistribute(self, states: Sequence[Any], subtask: int, parallelism: int) -> object:
        """Return this subtask's share of all subtasks' snapshots after a change of parallelism.

        By default, return the first one: state that is the same in all subtasks.
        """
        return states[0]

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the user's function. Called once, when the subtask ends."""

    def release(self) -> None:
        """Release resources other than memory. Called at the very end, even after a failure."""
