"""What stands at both ends of the operators in a test harness, in the places of a source and of a sink."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from flintstream.runtime.operators.base import MAX_TIMESTAMP, MIN_TIMESTAMP, Operator
from flintstream.runtime.operators.source import InputOperator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class StreamRecord:
    """A record and its timestamp (ms), None if it has none."""

    value: Any
    timestamp: int | None = None


@dataclass(frozen=True)
class Watermark:
    """Says that no record older than ``timestamp`` (ms) follows."""

    timestamp: int


@dataclass(frozen=True)
class WatermarkStatus:
    """Says that a stream is idle, so that nobody waits for its watermark, or active again."""

    idle: bool


Event = StreamRecord | Watermark | WatermarkStatus

_mailboxes: WeakValueDictionary[str, Mailbox] = WeakValueDictionary()


class Mailbox(list[Event]):
    """A list that stays the same one when it is pickled: tasks have copies of the operators that hold it."""

    def __init__(self) -> None:
        super().__init__()
        self._name = uuid.uuid4().hex
        _mailboxes[self._name] = self

    def __reduce__(self) -> tuple[Callable[[str], Mailbox], tuple[str]]:
        return _mailbox, (self._name,)


def _mailbox(name: str) -> Mailbox:
    return _mailboxes[name]


class Input(InputOperator):
    """Emits what a test has put into a mailbox: records, watermarks and idleness, in that order."""

    def __init__(self, mailbox: Mailbox) -> None:
        """Empty ``mailbox`` in every epoch."""
        super().__init__()
        self.mailbox = mailbox

    def read(self) -> Iterator[int]:
        """Emit what there is."""
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
    """Puts all that arrives into a mailbox."""

    def __init__(self, mailbox: Mailbox, *, records_only: bool = False) -> None:
        """Fill ``mailbox``, with records alone if told so."""
        self.mailbox = mailbox
        self.records_only = records_only

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Take the records of a block."""
        for value, timestamp in zip(values, timestamps or [MIN_TIMESTAMP] * len(values), strict=True):
            self.mailbox.append(StreamRecord(value, None if timestamp == MIN_TIMESTAMP else timestamp))

    def process_watermark(self, timestamp: int) -> None:
        """Take a watermark."""
        if not self.records_only:
            self.mailbox.append(Watermark(timestamp))

    def process_idle(self, idle: bool) -> None:
        """Take a change of idleness."""
        if not self.records_only:
            self.mailbox.append(WatermarkStatus(idle))
