"""Writes what was prepared into Kafka, exactly once, in transactions that each begin and end here.

Kafka lets nobody but the producer that began a transaction end it, so one that was begun in a task could be lost with
it. Therefore tasks only prepare records, and this writes them when a checkpoint contains them. How it knows after a
failure what is written already: within the same transaction it commits an *offset* of a consumer group of its own,
whose text tells up to which epoch of which run of the job all is written. Both become visible, or neither does.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.client import (
    TIMEOUT_SECONDS,
    KafkaConnectorError,
    close_quietly,
    consumer,
    library,
    patiently,
)
from flintstream.connectors.kafka.staging import Prepared
from flintstream.connectors.kafka.writing import Writing
from flintstream.connectors.sink import Committer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_log = logging.getLogger(__name__)

TRANSACTION_BYTES = 64 << 20
"""A transaction has so much at least, if there is so much; epochs are not divided."""

TRANSACTION_TIMEOUT_MS = 900_000
"""The most that brokers allow by default."""

COMMON = ("bootstrap.servers", "metadata.broker.list", "security.", "ssl.", "sasl.", "client.", "test.mock.", "socket.")
"""Properties that concern every client."""

REQUEST_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
"""After so much more a request is taken to hang."""

MARK_CHARACTERS = 4_000
"""Of the 4096 that brokers allow by default."""


class FencedError(KafkaConnectorError):
    """Another job writes under the same name, and has taken over."""


@dataclass
class Mark:
    """What is written already: the highest epoch of each run, those of the last runs."""

    runs: dict[str, int] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def of(cls, offset: int, text: str | None) -> Mark:
        """Read one.

        >>> Mark.of(3, "b:7 a:4").runs
        {'a': 4, 'b': 7}
        """
        pairs = [pair.rpartition(":") for pair in reversed((text or "").split())]
        return cls({run: int(number) for run, _, number in pairs}, max(offset, 0))

    def add(self, run: str, number: int) -> None:
        """See that an epoch is written, with all before it."""
        self.runs[run] = max(number, self.runs.pop(run, number))  # the last run comes last
        self.count += 1

    def text(self) -> str:
        """Write it down, the newest run first, and as many as there is room for.

        >>> Mark({"a": 4, "b": 7}).text()
        'b:7 a:4'
        """
        text = " ".join(f"{run}:{number}" for run, number in reversed(self.runs.items()))
        return text if len(text) <= MARK_CHARACTERS else text[: text.rindex(" ", 0, MARK_CHARACTERS)]


class Transactions:
    """The producer of one name: whoever makes one takes the name over and ends what its predecessor has begun."""

    def __init__(self, properties: Mapping[str, str], name: str) -> None:
        """Take the name over; an open transaction is aborted, one whose commit was decided is complete after this."""
        self.name = name
        timeout = properties.get("transaction.timeout.ms", str(TRANSACTION_TIMEOUT_MS))
        self.timeout = int(timeout) / 1000
        self._writing = Writing(properties, **{"transactional.id": name, "transaction.timeout.ms": timeout})
        servers = {key: value for key, value in properties.items() if key.startswith(COMMON)}
        # A committed read waits for a transaction that is being ended.
        self._marks = consumer(servers, **{"group.id": name, "isolation.level": "read_committed"})
        self._known: dict[str, Mark] = {}
        self._given_up = False
        patiently(f"begin transactions of '{name}'", lambda: self._writing.client.init_transactions(TIMEOUT_SECONDS))

    def mark(self, topic: str) -> Mark:
        """Return what the group's offset of a topic tells."""
        found = self._known.get(topic)
        if found is None:
            self._writing.partitions(topic)  # that it does not exist is found out sooner than by waiting for it
            asked = [library().TopicPartition(topic, 0)]
            (answer,) = patiently(
                f"read what is written under '{self.name}'",
                lambda: self._marks.committed(asked, timeout=TIMEOUT_SECONDS),
            )
            if answer.error is not None:
                raise KafkaConnectorError(f"cannot read what is written under '{self.name}': {answer.error.str()}")
            found = self._known[topic] = Mark.of(answer.offset, answer.metadata)
        return found

    def is_written(self, prepared: Prepared) -> bool:
        """Tell whether a transaction has written it."""
        return self.mark(prepared.topic).runs.get(prepared.run, -1) >= prepared.number

    def write(self, several: Sequence[Prepared]) -> None:
        """Write whole epochs in one transaction.

        Raises:
            FencedError: Another job has taken the name over.
            KafkaConnectorError: They could not be written; perhaps they were, which :meth:`is_written` of another
                object finds out.
        """
        client, began = self._writing.client, time.monotonic()
        kafka = library()
        try:
            client.begin_transaction()
            for prepared in several:
                for block in prepared.blocks():
                    self._writing.write(block)
            marks = {
                topic: Mark(dict(m.runs), m.count) for p in several for topic, m in [(p.topic, self.mark(p.topic))]
            }
            for prepared in several:
                marks[prepared.topic].add(prepared.run, prepared.number)
            places = [kafka.TopicPartition(topic, 0, m.count, metadata=m.text()) for topic, m in marks.items()]
            group = self._marks.consumer_group_metadata()
            self._again(lambda: client.send_offsets_to_transaction(places, group, REQUEST_SECONDS))
            self._again(lambda: client.commit_transaction(REQUEST_SECONDS))
        except (kafka.KafkaException, KafkaConnectorError) as error:
            cause = error if isinstance(error, kafka.KafkaException) else error.__cause__
            reason = cause.args[0] if isinstance(cause, kafka.KafkaException) else None
            # A transaction that was too slow has been ended by the broker, which looks the same.
            if self._is_fenced(reason) and time.monotonic() - began < self.timeout:
                raise FencedError(
                    f"another job writes to Kafka under the transactional id '{self.name}' and has taken over: two "
                    "sinks need different prefixes, and a job that was replaced must not go on"
                ) from error
            if isinstance(error, KafkaConnectorError):
                raise
            failure = f" ({self._writing.failure})" if self._writing.failure else ""
            raise KafkaConnectorError(
                f"a transaction of '{self.name}' failed: {error.args[0].str()}{failure}"
            ) from error
        self._known.update(marks)

    def _is_fenced(self, reason: Any) -> bool:
        """Tell whether somebody else has taken the name over."""
        codes = library().KafkaError
        if reason is not None and reason.code() == codes._FATAL:  # noqa: SLF001 - so it is called
            try:
                self._writing.client.poll(0)  # raises what it was
            except library().KafkaException as error:
                reason = error.args[0]
        return reason is not None and reason.code() == codes._FENCED  # noqa: SLF001

    def _again(self, request: Any) -> None:
        """Make a request that may be made again while it fails of something that passes."""
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
        """Make a request; give the producer up when it does not return.

        librdkafka may wait for ever for a coordinator that went away, whatever timeout it is given (its issue 5456).
        """
        raised: list[BaseException] = []

        def run() -> None:
            try:
                request()
            except BaseException as error:  # noqa: BLE001 - it is raised where it belongs
                raised.append(error)

        thread = threading.Thread(target=run, name="flintstream-kafka-transaction", daemon=True)
        thread.start()
        thread.join(REQUEST_SECONDS + PATIENCE_SECONDS)
        if thread.is_alive():
            self._given_up = True
            raise KafkaConnectorError(f"a transaction of '{self.name}' hangs, and is given up")
        if raised:
            raise raised[0]

    def close(self) -> None:
        """Disconnect; an open transaction is aborted."""
        close_quietly(self._marks)
        if self._given_up:
            return
        # Where there is none to abort, or it cannot be, whoever takes the name over does so.
        with contextlib.suppress(library().KafkaException, KafkaConnectorError):
            self._in_time(lambda: self._writing.client.abort_transaction(1.0))
        if not self._given_up:
            self._writing.client.purge()


class KafkaCommitter(Committer):
    """Writes what a checkpoint contains."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        """Connect when there is something to commit."""
        self._properties = properties
        self._open: dict[str, Transactions] = {}
        self._fenced: FencedError | None = None

    def commit(self, committables: Sequence[Any]) -> Sequence[Any]:
        """Write what is not written yet; returns what could not be."""
        if self._fenced is not None:
            raise self._fenced
        left: list[Any] = []
        by_name: dict[str, list[Prepared]] = {}
        for each in committables:
            prepared = Prepared(*each)
            by_name.setdefault(prepared.name, []).append(prepared)
        for name, mine in by_name.items():
            try:
                self._commit(name, mine)
            except FencedError as error:
                self._fenced = error
                raise
            except KafkaConnectorError as error:
                _log.warning("%s", error)
                self.failure = error
                self._drop(name)
                left.extend(map(tuple, mine))
        return left

    def _commit(self, name: str, mine: Sequence[Prepared]) -> None:
        transactions = self._open.get(name)
        if transactions is None:
            transactions = self._open[name] = Transactions(self._properties, name)
        left = [each for each in mine if not transactions.is_written(each)]
        for several in _portions(left):
            transactions.write(several)
        for each in mine:
            each.delete()

    def _drop(self, name: str) -> None:
        transactions = self._open.pop(name, None)
        if transactions is not None:
            transactions.close()

    def close(self) -> None:
        """Disconnect."""
        for name in list(self._open):
            self._drop(name)


def _portions(prepared: Sequence[Prepared]) -> Iterator[list[Prepared]]:
    """Divide into transactions, between epochs: what is written of one must be all of it."""
    portion: list[Prepared] = []
    for _, epoch in groupby(prepared, lambda each: (each.run, each.number)):
        portion.extend(epoch)
        if sum(each.size for each in portion) >= TRANSACTION_BYTES:
            yield portion
            portion = []
    if portion:
        yield portion
