"""Write messages to Pulsar, many at a time, in a task."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from flintstream.connectors.patience import Patience
from flintstream.connectors.pulsar.client import PulsarError, library, passing
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import add_note, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import timedelta

    from flintstream.connectors.pulsar.client import Client, Producer, PulsarAccess

T = TypeVar("T")

ROUND_ROBIN, KEY_HASH, CUSTOM = "round robin", "key hash", "custom"
MOST_OPEN = 1000
"""Maximum number of messages that a subtask has sent and Pulsar has not confirmed."""
SLOW_SECONDS = 2.0
"""How long to wait for a confirmation before a warning."""
LOOK_SECONDS = 60.0
"""How often to look for new partitions."""


class Router(Protocol):
    """Chooses the partition of a message."""

    def route(self, record: object, partitions: Sequence[str]) -> str:
        """Return one of the partitions, which are complete names of topics."""


@dataclass(frozen=True)
class PulsarOutput:
    """The settings of a sink. Tasks get a copy."""

    access: PulsarAccess
    topics: tuple[str, ...]
    serialize: Callable[[object], bytes | None] = field(repr=False)
    mode: str = ROUND_ROBIN
    router: Router | None = None
    waits: bool = True
    """Whether an epoch waits until Pulsar has its messages."""
    producer_name: str = ""
    delay: timedelta | None = None
    """How long Pulsar keeps a message before it delivers it."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Arguments of the producers."""
    switches_after: int = 1000
    """Number of messages after which another partition is next."""


class PulsarWriter(SinkWriter):
    """Sends messages as they come. The client sends them again when a broker is back, in their order."""

    def __init__(self, output: PulsarOutput, subtask: int) -> None:
        """Connect with the first message."""
        self._output, self._subtask = output, subtask
        self._client: Client | None = None
        self._partitions: list[str] = []
        self._next_look = 0.0
        self._producers: dict[str, Producer] = {}
        self._sent = 0
        self._lock = threading.Condition()
        self._open = 0
        """Number of messages that Pulsar has not confirmed."""
        self._failure: str | None = None
        self._patience = Patience(f"could not write to {', '.join(output.topics)}")

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Send messages, with the timestamps of their records as event times."""
        output = self._output
        more: dict[str, object] = {} if output.delay is None else {"deliver_after": output.delay}
        for index, value in enumerate(values):
            try:
                content = output.serialize(value)
            except Exception as error:
                add_note(error, f"while writing {shorten(value)} to {', '.join(output.topics)}")
                raise
            if content is None:
                continue
            if timestamps is not None and timestamps[index] > 0:
                more["event_timestamp"] = timestamps[index]
            self._send(self._partition(value), content, more)
        self._check()

    def _send(self, topic: str, content: bytes, more: dict[str, object]) -> None:
        producer = self._producer(topic)
        self._await(MOST_OPEN - 1)
        with self._lock:
            self._open += 1
        try:
            producer.send_async(content, self._confirm, **more)
        except library().PulsarException as error:
            with self._lock:
                self._open -= 1
            raise PulsarError(f"a message of {len(content)} bytes was not written to {topic}: {error}") from None

    def _confirm(self, result: object, message_id: object) -> None:
        """Note an answer; a thread of the client calls this."""
        with self._lock:
            self._open -= 1
            if result != library().Result.Ok and self._failure is None:
                self._failure = str(result)
            if self._open in {0, MOST_OPEN - 1} or self._failure:
                self._lock.notify_all()

    def _partition(self, value: object) -> str:
        output = self._output
        if not self._partitions or time.monotonic() >= self._next_look:
            self._partitions = self._try(self._find_partitions)
            self._next_look = time.monotonic() + LOOK_SECONDS
        if output.router is not None:
            topic = output.router.route(value, self._partitions)
            if topic not in self._partitions:
                raise PulsarError(f"the router returned {topic!r}, which is not one of {', '.join(self._partitions)}")
            return topic
        self._sent += 1
        if output.mode == KEY_HASH:  # messages have no keys, and Flink's router then takes any
            return secrets.choice(self._partitions)
        return self._partitions[(self._subtask + self._sent // output.switches_after) % len(self._partitions)]

    def _connect(self) -> Client:
        if self._client is None:
            self._client = self._output.access.client()
        return self._client

    def _find_partitions(self) -> list[str]:
        return [part for topic in self._output.topics for part in self._connect().get_topic_partitions(topic)]

    def _producer(self, topic: str) -> Producer:
        found = self._producers.get(topic)
        if found is None:
            found = self._producers[topic] = self._try(lambda: self._make_producer(topic))
        return found

    def _make_producer(self, topic: str) -> Producer:
        output = self._output
        more: dict[str, object] = dict(output.settings)
        if output.producer_name:
            more["producer_name"] = f"{output.producer_name}-{self._subtask}"
        return self._connect().create_producer(
            topic, send_timeout_millis=0, block_if_queue_full=True, max_pending_messages=MOST_OPEN, **more
        )

    def _try(self, do: Callable[[], T]) -> T:
        """Return a result, as soon as brokers are there."""
        while True:
            try:
                found = do()
            except library().PulsarException as error:
                if not passing(error):
                    raise PulsarError(f"cannot write to {', '.join(self._output.topics)}: {error}") from None
                time.sleep(self._patience.note_failure(str(error)))
            else:
                self._patience.note_success()
                return found

    def _check(self) -> None:
        with self._lock:
            if self._failure is not None:
                raise PulsarError(f"messages were not written to {', '.join(self._output.topics)}: {self._failure}")

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Wait until Pulsar has all messages."""
        if self._output.waits or end_of_input:
            self._await(0)
            self._check()
        return ()

    def _await(self, most: int) -> None:
        """Wait until no more than this number of messages is open."""
        while self._open > most:
            self._check()
            with self._lock:
                if self._lock.wait_for(lambda: self._open <= most or self._failure is not None, SLOW_SECONDS):
                    continue
            self._patience.note_failure(f"{self._open} messages are not confirmed")
        self._patience.note_success()

    def close(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        self._producers.clear()
        if client is not None:
            with contextlib.suppress(library().PulsarException):
                client.close()
