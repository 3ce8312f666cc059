"""Both ends of the operators in a test harness, which replace a source and a sink."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from flintstream.runtime.operators.base import Operator
from flintstream.runtime.operators.source import InputOperator
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class StreamRecord:
    """A record and its timestamp (ms), None if it has none.

    >>> StreamRecord("be", 1_000).timestamp
    1000
    """

    value: Any
    timestamp: int | None = None


@dataclass(frozen=True)
class Watermark:
    """A promise that no record older than ``timestamp`` (ms) follows.

    >>> Watermark(1_000) == Watermark(1_000)
    True
    """

    timestamp: int


@dataclass(frozen=True)
class WatermarkStatus:
    """A stream becomes idle, so that operators do not wait for its watermark, or active again.

    >>> WatermarkStatus(idle=True).idle
    True
    """

    idle: bool


Event = StreamRecord | Watermark | WatermarkStatus

_mailboxes: WeakValueDictionary[str, Mailbox] = WeakValueDictionary()


class Mailbox(list[Event]):
    """A list that keeps its identity when it is pickled: tasks have copies of the operators that hold it."""

    def __init__(self) -> None:
        super().__init__()
        self._name = uuid.uuid4().hex
        _mailboxes[self._name] = self

    def __reduce__(self) -> tuple[Callable[[str], Mailbox], tuple[str]]:
        return _mailbox, (self._name,)


def _mailbox(name: str) -> Mailbox:
    return _mailboxes[name]


class Input(InputOperator):
    """Operator that emits the contents of a mailbox, in their order: records, watermarks and idleness."""

    def __init__(self, mailbox: Mailbox) -> None:
        """Empty ``mailbox`` in every epoch."""
        super().__init__()
        self.mailbox = mailbox

    def read(self) -> Iterator[int]:
        """Emit the contents of the mailbox."""
        events = list(self.mailbox)
        self.mailbox.clear()
        for event in events:
            if isinstance(event, StreamRecord):
                self.output.emit([event.value], None if event.timestamp is None else [event.timestamp])
            elif isinstance(event, Watermark):
                self.output.emit_watermark(event.timestamp)
            else:
                self.output.emit_idle(event.idle)
            yield self.records
        if self.last and not self.finished:
            self.finished = True
            self.output.emit_watermark(MAX_TIMESTAMP)
            yield self.records


class Recorder(Operator):
    """Operator that puts its input into a mailbox."""

    def __init__(self, mailbox: Mailbox, *, records_only: bool = False) -> None:
        """Fill ``mailbox``, optionally with records only."""
        self.mailbox = mailbox
        self.records_only = records_only

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Record a block."""
        for value, timestamp in zip(values, timestamps or [MIN_TIMESTAMP] * len(values), strict=True):
            self.mailbox.append(StreamRecord(value, None if timestamp == MIN_TIMESTAMP else timestamp))

    def process_watermark(self, timestamp: int) -> None:
        """Record a watermark."""
        if not self.records_only:
            self.mailbox.append(Watermark(timestamp))

    def process_idle(self, idle: bool) -> None:
        """Record a change of idleness."""
        if not self.records_only:
            self.mailbox.append(WatermarkStatus(idle))
