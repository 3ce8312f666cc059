"""The contract between an operator and the subtask that runs it.

Records move through a subtask in *blocks*: a list of values and, beside it, a list of timestamps in milliseconds (or
``None`` when no record of the block has one). A block is cut wherever a watermark stands between two records, so an
operator sees records and watermarks in exactly the order in which its upstream produced them.

Two rules keep blocks as safe as record-at-a-time processing:

* an operator never mutates the lists it is handed, and
* whoever emits an object that somebody may still mutate (user state, a generator's buffer) emits a snapshot of it
  (:func:`flintstream.runtime.copies.snapshot`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from flintstream.metrics.reported import Counted
from flintstream.runtime.copies import ATOMS, frozen_kinds
from flintstream.runtime.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.metrics.reported import Reported
    from flintstream.runtime.operators.contexts import StreamingRuntimeContext
    from flintstream.runtime.operators.timers import InternalTimerService
    from flintstream.state.backend import KeyedStateBackend

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

    def next_cleanup(self, now: int) -> int | None:
        """Return when keyed state is to be cleaned up again even without input (ms), if its backend says so."""
        ask = getattr(self.state, "next_cleanup", None)
        return None if ask is None else ask(now)

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
    something to restore, :meth:`open`, then any number of blocks and watermarks over any number of epochs, then
    :meth:`close`.
    """

    keeps_state: ClassVar[bool] = False
    """Whether something would be lost if what :meth:`snapshot` returns were not restored."""

    one_for_one: ClassVar[bool] = False
    """Whether each record that comes in makes one that goes out."""

    declared_type: TypeInformation | None = None
    """What the user says that results are; they are brought to it behind the operator."""
    frozen: frozenset[type]
    """The classes whose instances may be emitted as they are, without a snapshot."""

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
        self.frozen = ATOMS if side_outputs else frozen_kinds(self.declared_type)

    def open(self) -> None:
        """Open the user's function; called once per subtask and worker."""

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

    def end_epoch(self) -> None:
        """The epoch's input is used up: emit or prepare what must not wait for the next one."""

    def end_input(self) -> None:
        """The bounded input has ended for good; called after the last watermark."""

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

    def close(self) -> None:
        """Close the user's function; called once when the subtask ends."""
