"""Exactly-once output to Kafka, in transactions that begin and end within a commit.

Kafka lets only the producer that began a transaction end it, so a transaction begun in a task could be lost with that
task. Therefore, tasks only prepare records, and they are written when a checkpoint contains them. Each transaction
also commits an *offset* of a separate consumer group, whose metadata names the last written epoch of each run of the
job. Records and offset become visible together or not at all. After a failure, the offset shows what is already
written.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.client import (
    TIMEOUT_SECONDS,
    KafkaConnectorError,
    admin,
    close_quietly,
    consumer,
    library,
    patiently,
)
from flintstream.connectors.kafka.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.connectors.kafka.staging import Prepared

TRANSACTION_TIMEOUT_MS = 900_000
"""The highest value that brokers allow by default."""

COMMON = ("bootstrap.servers", "metadata.broker.list", "security.", "ssl.", "sasl.", "client.", "test.mock.", "socket.")
"""Properties that apply to every client."""

REQUEST_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
"""How long a request may exceed its timeout before it counts as hanging."""

MARK_CHARACTERS = 4_000
"""Brokers allow 4096 by default."""


GENERATION, IDS = "@", "#"
"""Stand for runs in the metadata of an offset; no run has such a name."""


class FencedError(KafkaConnectorError):
    """Another producer has taken the transactional id over."""


def fenced_error(name: str) -> FencedError:
    """Return the error of a job that must not write any more."""
    return FencedError(
        f"another job writes to Kafka under the transactional id '{name}' and has taken over: give each sink its own "
        "prefix, and stop jobs that were replaced"
    )


@dataclass
class Mark:
    """Record of what is already written: the highest epoch of each of the last runs."""

    runs: dict[str, int] = field(default_factory=dict)
    count: int = 0
    generation: int = 0
    """The driver that wrote last, counted from 1; 0 if none has had its records written by tasks."""
    ids: int = 0
    """How many subtasks have had an id of their own."""

    @classmethod
    def of(cls, offset: int, text: str | None) -> Mark:
        """Parse the metadata of an offset.

        >>> Mark.of(3, "b:7 a:4").runs
        {'a': 4, 'b': 7}
        """
        pairs = [pair.rpartition(":") for pair in reversed((text or "").split())]
        runs = {run: int(number) for run, _, number in pairs}
        return cls(runs, max(offset, 0), runs.pop(GENERATION, 0), runs.pop(IDS, 0))

    def copy(self) -> Mark:
        """Return a mark that can change without this one."""
        return Mark(dict(self.runs), self.count, self.generation, self.ids)

    def add(self, run: str, number: int) -> None:
        """Record that an epoch is written, and all before it."""
        self.runs[run] = max(number, self.runs.pop(run, number))  # the last run comes last
        self.count += 1

    def text(self) -> str:
        """Format it, newest run first, and drop the oldest runs that do not fit.

        >>> Mark({"a": 4, "b": 7}).text(), Mark({"a": 4}, generation=3, ids=8).text()
        ('b:7 a:4', '@:3 #:8 a:4')
        """
        of_job = {GENERATION: self.generation, IDS: self.ids}
        pairs = [*((key, number) for key, number in of_job.items() if number), *reversed(self.runs.items())]
        text = " ".join(f"{run}:{number}" for run, number in pairs)
        return text if len(text) <= MARK_CHARACTERS else text[: text.rindex(" ", 0, MARK_CHARACTERS)]


class Transactions:
    """The producer of one transactional id. A new one takes the id over and ends its predecessor's transaction."""

    def __init__(self, properties: Mapping[str, str], name: str) -> None:
        """Take the id over. Aborts an open transaction; waits for one whose commit was decided."""
        self.name = name
        timeout = properties.get("transaction.timeout.ms", str(TRANSACTION_TIMEOUT_MS))
        self.timeout = int(timeout) / 1000
        self._writing = Writing(properties, **{"transactional.id": name, "transaction.timeout.ms": timeout})
        servers = {key: value for key, value in properties.items() if key.startswith(COMMON)}
        # A read of committed data waits for a transaction that is ending.
        self._marks = consumer(servers, **{"group.id": name, "isolation.level": "read_committed"})
        self._servers = servers
        self._known: dict[str, Mark] = {}
        self._home: str | None = None
        self._given_up = False
        patiently(f"begin transactions of '{name}'", lambda: self._writing.client.init_transactions(TIMEOUT_SECONDS))

    def mark(self, topic: str) -> Mark:
        """Return the mark in the group's offset of a topic."""
        found = self._known.get(topic)
        if found is None:
            self._writing.partitions(topic)  # fails early if the topic does not exist
            asked = [library().TopicPartition(topic, 0)]
            (answer,) = patiently(
                f"read what is written under '{self.name}'",
                lambda: self._marks.committed(asked, timeout=TIMEOUT_SECONDS),
            )
            if answer.error is not None:
                raise KafkaConnectorError(f"cannot read what is written under '{self.name}': {answer.error.str()}")
            found = self._known[topic] = Mark.of(answer.offset, answer.metadata)
        return found

    def home(self, default: str) -> str:
        """Return the topic that has the generation of the last driver among its marks; ``default`` if none has one.

        A function may choose the topics of the records, so that a driver need not begin with the topic of the last one.
        """
        if self._home is None:
            asking = admin(self._servers)
            group = [library().ConsumerGroupTopicPartitions(self.name)]

            def answer() -> Any:
                of_groups = asking.list_consumer_group_offsets(group, require_stable=True)
                return of_groups[self.name].result(TIMEOUT_SECONDS)

            found = patiently(f"read where '{self.name}' has written", answer, client=asking).topic_partitions
            drivers = [(Mark.of(item.offset, item.metadata).generation, item.topic) for item in found]
            self._home = max([(0, ""), *(driver for driver in drivers if driver[0])])[1]
        return self._home or default

    def is_written(self, prepared: Prepared) -> bool:
        """Tell whether a transaction has written ``prepared``."""
        return self.mark(prepared.topic).runs.get(prepared.run, -1) >= prepared.number

    def write(self, several: Sequence[Prepared], home: str = "", generation: int = 0) -> None:
        """Write whole epochs in one transaction.

        Args:
            several: What tasks have prepared.
            home: The topic that has the generation among its marks.
            generation: That of the driver; 0 leaves it unchanged.

        Raises:
            FencedError: Another producer has taken the transactional id over.
            KafkaConnectorError: The write failed, or its outcome is unknown: then :meth:`is_written` of a new object
                tells.
        """
        topics = {prepared.topic for prepared in several} | ({home} if generation else set())
        marks = {topic: self.mark(topic).copy() for topic in topics}
        for prepared in several:
            marks[prepared.topic].add(prepared.run, prepared.number)
        if generation:
            marks[home].generation = generation
        self._transact(several, marks)

    def claim(self, home: str, generation: int, ids: int = 0) -> None:
        """Write which driver's records this id writes, and how many subtasks have an id of their own.

        Raises:
            FencedError: Another producer has taken the transactional id over.
            KafkaConnectorError: The write failed, or its outcome is unknown.
        """
        mark = self.mark(home).copy()
        mark.generation, mark.ids, mark.count = generation, ids, mark.count + 1
        self._transact((), {home: mark})

    def _transact(self, several: Sequence[Prepared], marks: Mapping[str, Mark]) -> None:
        client, began = self._writing.client, time.monotonic()
        kafka = library()
        try:
            client.begin_transaction()
            for prepared in several:
                for block in prepared.blocks():
                    self._writing.write(block)
            places = [kafka.TopicPartition(topic, 0, m.count, metadata=m.text()) for topic, m in marks.items()]
            group = self._marks.consumer_group_metadata()
            self._again(lambda: client.send_offsets_to_transaction(places, group, REQUEST_SECONDS))
            self._again(lambda: client.commit_transaction(REQUEST_SECONDS))
        except (kafka.KafkaException, KafkaConnectorError) as error:
            cause = error if isinstance(error, kafka.KafkaException) else error.__cause__
            reason = cause.args[0] if isinstance(cause, kafka.KafkaException) else None
            # The broker ends a transaction that takes too long, with the same error.
            if self._is_fenced(reason) and time.monotonic() - began < self.timeout:
                raise fenced_error(self.name) from error
            if isinstance(error, KafkaConnectorError):
                raise
            failure = f" ({self._writing.failure})" if self._writing.failure else ""
            raise KafkaConnectorError(
                f"a transaction of '{self.name}' failed: {error.args[0].str()}{failure}"
            ) from error
        self._known.update(marks)

    def _is_fenced(self, reason: Any) -> bool:
        """Tell whether another producer has taken the id over."""
        codes = library().KafkaError
        if reason is not None and reason.code() == codes._FATAL:
            try:
                self._writing.client.poll(0)  # raises the fatal error
            except library().KafkaException as error:
                reason = error.args[0]
        return reason is not None and reason.code() == codes._FENCED

    def _again(self, request: Any) -> None:
        """Make an idempotent request, retrying it while it fails with a transient error."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                self._in_time(request)
            except library().KafkaException as error:
                reason = error.args[0]
                if not reason.retriable() or reason.txn_requires_abort() or time.monotonic() > until:
                    raise
                time.sleep(0.1)
            else:
                return

    def _in_time(self, request: Any) -> None:
        """Make a request; give up on the producer if it does not return.

        librdkafka may wait indefinitely for a lost coordinator, regardless of timeouts (its issue 5456).
        """
        raised: list[BaseException] = []

        def run() -> None:
            try:
                request()
            except BaseException as error:  # noqa: BLE001 - re-raised in the calling thread
                raised.append(error)

        thread = threading.Thread(target=run, name="flintstream-kafka-transaction", daemon=True)
        thread.start()
        thread.join(REQUEST_SECONDS + PATIENCE_SECONDS)
        if thread.is_alive():
            self._given_up = True
            raise KafkaConnectorError(f"a transaction of '{self.name}' hangs; giving up on its producer")
        if raised:
            raise raised[0]

    def close(self) -> None:
        """Disconnect, aborting an open transaction."""
        close_quietly(self._marks)
        if self._given_up:
            return
        # If the abort fails, the next producer with this id aborts the transaction.
        with contextlib.suppress(library().KafkaException, KafkaConnectorError):
            self._in_time(lambda: self._writing.client.abort_transaction(1.0))
        if not self._given_up:
            self._writing.client.purge()
