"""Pulsar source in the driver: finds partitions, and notes in the subscription what has been read."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flintstream.checkpoint.registry import record
from flintstream.connectors.patience import Patience
from flintstream.connectors.pulsar.client import (
    PulsarError,
    library,
    passing,
    path_of,
    read_id,
    without_partition,
)
from flintstream.connectors.pulsar.cursors import AFTER, AT, EARLIEST, LATEST, NEVER, PUBLISHED, Cursor
from flintstream.connectors.source import SourceSplit, SplitEnumerator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.pulsar.client import (
        Client,
        Consumer,
        MessageId,
        PulsarAccess,
    )

_log = logging.getLogger(__name__)

START_SECONDS = 30.0
"""How long the start of a job waits for a broker that does not answer."""


@record
@dataclass
class PulsarSplit(SourceSplit):
    """A partition, from a position on."""

    topic: str
    start: Cursor
    stop: Cursor
    position: bytes = b""
    """The id of the last message that was read."""


@dataclass(frozen=True)
class PulsarInput:
    """Configuration of a Pulsar source. Tasks get a copy."""

    access: PulsarAccess
    subscription: str
    topics: tuple[str, ...]
    """Complete names; empty for a pattern."""
    pattern: str
    deserialize: Callable[[bytes], object] = field(repr=False)
    produced_type: TypeInformation | None = None
    start: Cursor = field(default_factory=lambda: Cursor(EARLIEST))
    stop: Cursor = field(default_factory=lambda: Cursor(NEVER))
    bounded: bool = False
    consumer_name: str = ""
    keys: frozenset[str] | None = None
    """Reads messages with these keys only; None for all."""
    discovery_seconds: float = 300.0
    """Time between two looks for partitions; 0 or less for one look only."""
    queue_size: int = 1000
    compacted: bool = False
    resets: bool = False
    """Whether the start cursor applies to a subscription that exists."""
    acknowledges: bool = False
    """Whether a job without checkpoints notes what it has read."""


def topics_of(access: PulsarAccess, pattern: str) -> list[str]:
    """Return the topics that match a pattern, without their partitions."""
    place = re.match(r"(?:(persistent|non-persistent)://)?([^/]+)/([^/]+)/", pattern)
    kind, tenant, namespace = place.groups() if place else (None, "public", "default")
    matches = re.compile(pattern[place.end() :] if place else pattern)
    base = f"{kind or 'persistent'}/{tenant}/{namespace}"
    found = {
        without_partition(topic)
        for path in (base, f"{base}/partitioned")
        for topic in cast("list[str]", access.ask(path) or [])
    }
    return sorted(topic for topic in found if matches.fullmatch(topic.rpartition("/")[2]) and "/__" not in topic)


class PulsarEnumerator(SplitEnumerator):
    """Finds partitions. A consumer for each keeps the subscription, so that Pulsar keeps what has not been read."""

    def __init__(self, source: PulsarInput) -> None:
        """Connect on first use, not here."""
        self._source = source
        self._known: set[str] = set()
        self._begun = False
        self._next_look = 0.0
        self._client: Client | None = None
        self._consumers: dict[str, Consumer] = {}
        self._busy_until = 0.0
        self._patience = Patience(f"could not list the partitions of Pulsar at {source.access.service_url}")

    def is_finished(self) -> bool:
        """Return whether there will be no new partitions."""
        return self._begun and (self._source.bounded or self._source.discovery_seconds <= 0)

    def discover(self) -> Sequence[PulsarSplit]:
        """Return new partitions."""
        now = time.monotonic()
        if now < self._next_look or (self.is_finished() and self._known <= self._consumers.keys()):
            return ()
        found: list[PulsarSplit] = []
        until = now + START_SECONDS
        while True:
            try:
                self._subscribe_known()
                for topic in () if self.is_finished() else self._topics():
                    if topic not in self._known:
                        found.append(self._split(topic))
                        self._known.add(topic)
            except (OSError, library().PulsarException) as error:
                delay = self._wait_after(error, until)
                if self._begun:
                    self._next_look = time.monotonic() + delay
                    return found
                time.sleep(delay)
            else:
                self._patience.note_success()
                self._begun, self._busy_until = True, 0.0
                self._next_look = time.monotonic() + max(self._source.discovery_seconds, 0.0)
                return found

    def _wait_after(self, error: Exception, until: float) -> float:
        """Return how long to wait after an error (s), if it may pass."""
        pulsar, where = library(), ", ".join(self._source.topics) or self._source.pattern
        if isinstance(error, pulsar.ConsumerBusy):
            why = f"the subscription '{self._source.subscription}' of {where} is used by another consumer"
            self._busy_until = self._busy_until or time.monotonic() + START_SECONDS
            if time.monotonic() >= self._busy_until:  # that of a job that was killed may still be there
                raise PulsarError(why) from None
        elif not isinstance(error, OSError) and not passing(error):
            raise PulsarError(f"cannot read {where}: {error}") from None
        if not self._begun and time.monotonic() >= until:
            raise PulsarError(f"cannot read {where}: {error}") from None
        return self._patience.note_failure(str(error))

    def _connect(self) -> Client:
        if self._client is None:
            self._client = self._source.access.client()
        return self._client

    def _topics(self) -> list[str]:
        source = self._source
        names = source.topics or topics_of(source.access, source.pattern)
        return [part for name in names for part in self._connect().get_topic_partitions(name)]

    def _subscribe(self, topic: str) -> Consumer:
        found = self._consumers.get(topic)
        if found is None:
            source, positions = self._source, library().InitialPosition
            more = {"consumer_name": source.consumer_name} if source.consumer_name else {}
            found = self._consumers[topic] = self._connect().subscribe(
                topic,
                source.subscription,
                initial_position=positions.Latest if source.start.kind == LATEST else positions.Earliest,
                receiver_queue_size=1,
                **more,
            )
        return found

    def _subscribe_known(self) -> None:
        """Keep the subscriptions of partitions that a checkpoint has."""
        for topic in self._known - self._consumers.keys():
            self._subscribe(topic)

    def _split(self, topic: str) -> PulsarSplit:
        """Return where to start and stop."""
        source, pulsar = self._source, library()
        noted = None if source.resets else self._find_noted(topic)
        consumer = self._subscribe(topic)
        last = consumer.get_last_message_id()
        start = source.start
        if noted is not None:
            start = Cursor(AFTER, noted)
        elif start.kind == LATEST:
            # New partitions are read from their beginning, and so is an empty one: the next message is the first.
            empty = last.entry_id() < 0
            start = Cursor(EARLIEST) if self._begun or empty else Cursor(AFTER, last.serialize())
            if source.resets:
                consumer.seek(pulsar.MessageId.latest)
        elif start.kind in {AT, AFTER}:
            consumer.seek(read_id(start.id))
        elif start.kind == PUBLISHED:
            consumer.seek(start.time)
        elif source.resets:
            consumer.seek(pulsar.MessageId.earliest)
        stop = source.stop
        if stop.kind == LATEST:
            stop = Cursor(AFTER, last.serialize())
        return PulsarSplit(topic, topic, start, stop)

    def _find_noted(self, topic: str) -> bytes | None:
        """Return the id up to which an existing subscription has read; None if there is none."""
        if not self._source.access.admin_url:
            return None
        stats = cast("dict[str, dict[str, dict[str, str]]]", self._source.access.ask(f"{path_of(topic)}/internalStats"))
        cursor = (stats or {}).get("cursors", {}).get(self._source.subscription)
        if cursor is None:
            return None
        ledger, entry = map(int, cursor["markDeletePosition"].split(":"))
        made = cast("MessageId", library().MessageId(-1, ledger, entry, -1))
        return made.serialize()

    def checkpoint_completed(self, progress: Sequence[object]) -> None:
        """Note in the subscription what has been read; Pulsar may then delete it."""
        last: dict[str, bytes] = {}
        for positions in progress:
            last.update(cast("dict[str, bytes]", positions))
        for topic, position in last.items():
            consumer = self._consumers.get(topic)
            if consumer is not None:
                with contextlib.suppress(library().PulsarException):  # a later checkpoint notes more
                    consumer.acknowledge_cumulative(read_id(position))

    def epoch_read(self, progress: Sequence[object]) -> None:
        """Do the same in a job without checkpoints, if it is to."""
        if self._source.acknowledges:
            self.checkpoint_completed(progress)

    def close(self) -> None:
        """Disconnect. The subscriptions stay."""
        client, self._client = self._client, None
        self._consumers.clear()
        if client is not None:
            with contextlib.suppress(library().PulsarException):
                client.close()

    def snapshot(self) -> object:
        """Return the known partitions."""
        return (self._begun, sorted(self._known))

    def restore(self, state: object) -> None:
        """Restore what :meth:`snapshot` returned."""
        begun, known = cast("tuple[bool, list[str]]", state)
        self._begun, self._known = begun, set(known)
