"""The contract between an operator and the subtask that runs it.

Records move through a subtask in *blocks*: a list of values and, beside it, a list of timestamps in milliseconds (or
``None`` when no record of the block has one). A block is cut wherever a watermark stands between two records, so an
operator sees records and watermarks in exactly the order in which its upstream produced them.

Two rules keep blocks as safe as record-at-a-time processing:

* an operator never mutates the lists it is handed, and
* an operator emits a copy of an object that may still change (user state, a generator's buffer)
  (:func:`flintstream.runtime.copies.copied`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from flintstream.metrics.reported import Counted
from flintstream.runtime.copies import ATOMS, frozen_classes
from flintstream.runtime.protocol import NodeReport
from flintstream.runtime.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.metrics.reported import Reported
    from flintstream.runtime.epoch import Epoch
    from flintstream.runtime.operators.contexts import StreamingRuntimeContext
    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.state.backend import KeyedStateBackend
    from flintstream.storage.file_store import FileStore

MIN_TIMESTAMP = -(2**63)
"""Flink's ``Long.MIN_VALUE``: the timestamp of a record that has none, and the watermark before the first one."""

MAX_TIMESTAMP = 2**63 - 1
"""Flink's ``Long.MAX_VALUE``: the watermark that ends a bounded input."""


def whole_ms(time: Any, what: str) -> int:
    """Return a user's time as a whole number of ms, cut as PyFlink cuts it; ``what`` says whose time it is.

    As there, whatever ``int`` takes is a number, texts aside.

    >>> whole_ms(12.9, "a timer")
    12

    Raises:
        TypeError: it is no number.
        OverflowError: it is none that fits 64 bits.
    """
    try:
        whole = None if isinstance(time, (str, bytes, bytearray)) else int(time)
    except (ValueError, OverflowError):  # not a number, infinity
        whole = MAX_TIMESTAMP + 1
    except TypeError:
        whole = None
    if whole is None:
        raise TypeError(f"{what} needs an integer, a time in ms, but got {time!r} of type {type(time).__name__}")
    if not MIN_TIMESTAMP <= whole <= MAX_TIMESTAMP:
        raise OverflowError(f"{what} needs a time in ms that fits 64 bits, but got {time!r}")
    return whole


class Output(Protocol):
    """Where an operator sends what it produces: the next operator, an exchange, or several of them."""

    def emit(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block of records; the receiver owns the lists from now on."""

    def emit_watermark(self, timestamp: int) -> None:
        """Declare that no record older than ``timestamp`` (ms) follows."""

    def emit_idle(self, idle: bool) -> None:
        """Declare this output idle (its watermark no longer holds others back) or active again."""


@dataclass(slots=True)
class OperatorContext:
    """What a subtask gives each of its operators."""

    name: str
    subtask: int
    parallelism: int
    max_parallelism: int
    batch: bool
    """True in BATCH mode: one key at a time, no watermark but the last."""
    runtime_context: StreamingRuntimeContext
    state: KeyedStateBackend | None = None
    """The keyed state of this operator and subtask; None on a stream that is not keyed."""
    timers: InternalTimerService | None = None
    """The timers of this operator and subtask; None on a stream that is not keyed."""
    side_tags: frozenset[str] = field(default_factory=frozenset)
    """Ids of the side outputs that somebody asked for with ``get_side_output``."""
    identity: str = ""
    """The job's id and the operator's uid."""
    auto_watermark_interval_ms: int = 200
    """How often periodic watermarks are emitted; 0 for never."""
    metrics: dict[str, int] = field(default_factory=dict)
    """Counters of the engine itself, such as ``numLateRecordsDropped``, of this epoch."""
    warning: str | None = None
    """What the user is to be told of this epoch; of each operator once."""
    node: int = 0
    """The operator's id in the plan."""
    alternates: bool = False
    """Records of the sources of this chain come in turn, one by one, at first."""
    broadcasts: bool = False
    """This operator's records are broadcast sooner or later."""
    staging: FileStore | None = None
    """Where sinks may keep what they have prepared; None where checkpoints have no directory."""
    commit_with_checkpoint: bool = False
    """Sinks commit when a checkpoint completes, not after every epoch."""

    def warn(self, what: str) -> None:
        """Have the user told ``what`` of this operator."""
        self.warning = f"operator '{self.name}': {what}"

    def take_warning(self) -> str | None:
        """Return what the user is to be told, once."""
        warning, self.warning = self.warning, None
        return warning

    def take_metrics(self) -> dict[str, Reported]:
        """Return what is to be reported of the engine's counters and the user's metrics since the last time."""
        own: dict[str, Reported] = {name: Counted(count) for name, count in self.metrics.items()}
        self.metrics.clear()
        return own | self.runtime_context.get_metrics_group().take()


class Operator:
    """One operator in one subtask. Subclasses override what they need.

    Life cycle: constructed in the task from its pickled description, :meth:`setup`, :meth:`restore` if there is
    something to restore; then epochs, from :meth:`begin_epoch` to :meth:`end_epoch`, with any number of blocks and
    watermarks. :meth:`open` follows the beginning of the first one, :meth:`close` the end of the last one. In the end,
    or when an epoch fails, there is :meth:`release`.
    """

    keeps_state: ClassVar[bool] = False
    """Whether something would be lost if what :meth:`snapshot` returns were not restored."""

    one_for_one: ClassVar[bool] = False
    """Whether each record that comes in makes one that goes out."""

    alternates: ClassVar[bool] = False
    """Whether the sources of its chain should take turns, record by record, at first."""

    method: ClassVar[str | None] = None
    """The method of its function that does all the work: one loop can then replace several such operators."""

    gives_blocks: ClassVar[bool] = False
    """Whether it emits blocks by itself, and emits again what the next function left of a block (see :attr:`watch`)."""

    can_be_cut: ClassVar[bool] = False
    """Whether its loop reports to :attr:`watch`, which can then make it leave the rest of a block."""

    finished: bool = True
    """Whether nothing is left to read: False for a source until it has passed on the end of its input."""

    declared_type: TypeInformation | None = None
    """What the user says that results are; they are brought to it behind the operator."""
    frozen: frozenset[type]
    """The classes whose instances may be emitted as they are, without a copy."""

    context: OperatorContext
    output: Output
    watch: Watch
    """Where it shows the loop that it is in."""
    side_outputs: Mapping[str, Output]

    def setup(self, context: OperatorContext, output: Output, side_outputs: Mapping[str, Output]) -> None:
        """Receive the surroundings; called once before anything else."""
        self.context = context
        self.output = output
        self.watch = Watch()
        self.side_outputs = side_outputs
        self.frozen = ATOMS if side_outputs else frozen_classes(self.declared_type)

    def join(self, upstream: Operator, *, directly: bool) -> None:
        """Learn that records of ``upstream`` arrive here within the chain, ``directly`` or through other operators."""

    def heed(self, generator: Any) -> None:
        """Learn of a watermark generator downstream, which may make splits of this operator wait for others."""

    def passes_blocks(self) -> bool:
        """Tell whether it passes blocks on unchanged, and allows the next function to leave the rest of a block."""
        return False

    def freeze_keys(self) -> None:
        """Learn that from now on keys are not hashable as they are."""

    def open(self) -> None:
        """Open the user's function; called once per subtask and worker."""

    # -- an epoch ----------------------------------------------------------------------------------------------------

    def begin_epoch(self, epoch: Epoch, given: Sequence[Any]) -> None:
        """Begin an epoch; ``given`` has new splits for a source."""

    def reads(self) -> Iterator[int] | None:
        """Return an iterator that reads the epoch's input; None if all input comes from other operators.

        Each step emits something and yields the number of records so far.
        """
        return None

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process one block of the (first) input."""
        raise NotImplementedError

    def process_second(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process one block of the second input of a two-input operator."""
        raise NotImplementedError

    def process_watermark(self, timestamp: int) -> None:
        """Advance event time: fire what is due, then pass the watermark on."""
        self.output.emit_watermark(timestamp)

    def restore_watermark(self, timestamp: int) -> None:
        """Learn, after :meth:`restore`, how far event time was (ms); who follows knows, so nothing is passed on."""

    def process_idle(self, idle: bool) -> None:
        """All inputs became idle, or one became active again."""
        self.output.emit_idle(idle)

    def on_processing_time(self, now: int) -> None:
        """Fire processing-time work that is due at ``now`` (ms since the epoch); called between blocks."""

    def next_processing_time(self) -> int | None:
        """When :meth:`on_processing_time` must be called next (ms since the epoch), even without input."""
        return None

    def end_key(self, key: Any) -> None:
        """BATCH: all records of a key are in; emit its last results, and drop its state."""
        raise NotImplementedError

    def end_epoch(self, epoch: Epoch) -> NodeReport:
        """Emit or prepare what must not wait for the next epoch, and report to the driver.

        All operators upstream in the chain have ended the epoch before. The subtask adds records, metrics and warnings.
        """
        return NodeReport(
            self.context.node,
            {},
            next_processing_time=None if epoch.end_of_input else self.next_processing_time(),
        )

    # -- state -------------------------------------------------------------------------------------------------------

    def snapshot(self) -> object | None:
        """Return small non-keyed state (picklable) for :meth:`restore` in the next epoch, wherever that runs."""
        return None

    def restore(self, state: object) -> None:
        """Take back what :meth:`snapshot` returned at the end of the previous epoch."""

    def recover(self, states: Sequence[Any], subtask: int, parallelism: int, *, same: bool) -> None:
        """Take over from a checkpoint: this subtask's own state, or all, if the parallelism is not the ``same``."""
        self.restore(states[0] if same else self.redistribute(states, subtask, parallelism))

    def redistribute(self, states: Sequence[Any], subtask: int, parallelism: int) -> object:  # noqa: ARG002 - contract
        """Return this subtask's share of what all subtasks' :meth:`snapshot` gave when there were more or fewer.

        By default what one of them gave, as for state that is the same in all.
        """
        return states[0]

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the user's function; called once when the subtask ends."""

    def release(self) -> None:
        """Release resources outside of memory; called at the very end, even after a failure."""
