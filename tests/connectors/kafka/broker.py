"""A real Apache Kafka broker: one node, only on this machine, without ZooKeeper.

PySpark's Ivy downloads the jars from Maven Central, once. They are kept in the directory that the
variable ``FLINTSTREAM_KAFKA_JARS`` names, ``~/.cache/flintstream/kafka-<version>`` by default.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from tests import maven
from tests.maven import free_port

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = "4.1.1"
JARS = "FLINTSTREAM_KAFKA_JARS"
START_SECONDS = 300

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={directory}/logs
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=3
group.initial.rebalance.delay.ms=0
log.cleaner.enable=false
"""


class NoBrokerError(Exception):
    """No broker can be started on this machine."""


def jars() -> Path:
    """Return the directory with the broker's jars; download them if necessary.

    Raises:
        NoBrokerError: They cannot be downloaded; the message has the reason.
    """
    try:
        return maven.jars("org.apache.kafka", "kafka_2.13", VERSION, "kafka", JARS)
    except maven.NoJarsError as error:
        raise NoBrokerError(str(error)) from None


class Broker:
    """A broker in a separate process, which can be killed and restarted with its data."""

    def __init__(self, directory: str | os.PathLike[str], more: str = "", *formatting: str) -> None:
        """Start a broker with its data in ``directory``, with ``more`` properties and formatting options."""
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.jars = jars()
        self.port = free_port()
        self.servers = f"127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        text = (PROPERTIES + more).format(port=self.port, controller=free_port(), directory=self.directory)
        self.properties = self.directory / "server.properties"
        self.properties.write_text(text, encoding="utf-8")
        (self.directory / "log4j2.properties").write_text(
            "appender.a.type=Console\nappender.a.name=A\nrootLogger.level=WARN\nrootLogger.appenderRef.a.ref=A\n",
            "utf-8",
        )
        form = ["format", "-t", uuid.uuid4().hex[:22], "-c", str(self.properties), *formatting]
        self._java("kafka.tools.StorageTool", *form).wait()
        self.start()

    def _java(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.directory / "log").open("ab")
        command = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{self.jars}/*"]
        command += [f"-Dlog4j2.configurationFile={self.directory}/log4j2.properties", name, *arguments]
        with log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory)  # noqa: S603

    def start(self) -> None:
        """Start the broker, and wait until it answers."""
        self.process = self._java("kafka.Kafka", str(self.properties))
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                self.admin().list_topics(timeout=1)
            except KafkaException:
                if self.process.poll() is not None or time.monotonic() > until:
                    log = (self.directory / "log").read_text(errors="replace")[-2000:]
                    raise NoBrokerError(f"the broker does not start:\n{log}") from None
            else:
                return

    def kill(self) -> None:
        """Kill the broker with signal 9."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Stop the broker and delete its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    # -- what tests do with it ---------------------------------------------------------------------------------------

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0})

    def topic(self, name: str = "", partitions: int = 1) -> str:
        """Create a topic, by default with a unique name."""
        name = name or f"topic-{uuid.uuid4().hex[:8]}"
        admin = self.admin()  # without the client its answers would be lost
        for created in admin.create_topics([NewTopic(name, partitions, 1)]).values():
            created.result()
        return name

    def records(self, topic: str, *, committed: bool = True) -> list[tuple[Any, Any, Any]]:
        """Return partition, key and value of all records of a topic, of all or only of committed transactions."""
        level = "read_committed" if committed else "read_uncommitted"
        config = {"bootstrap.servers": self.servers, "group.id": "tests", "isolation.level": level, "log_level": 0}
        consumer = Consumer({**config, "enable.partition.eof": True, "auto.offset.reset": "earliest"})
        try:
            return _read_all(consumer, topic)
        finally:
            consumer.close()


def send(broker: Broker, topic: str, records: Iterable[Any], partition: int = 0, **more: Any) -> None:
    """Write values, or pairs of key and value."""
    client = Producer({"bootstrap.servers": broker.servers, "linger.ms": 1, "log_level": 0})
    for record in records:
        key, value = record if isinstance(record, tuple) else (None, record)
        client.produce(topic, value, key, partition, **more)
        client.poll(0)
    assert client.flush(10) == 0


def committed(broker: Broker, group: str, topic: str, partition: int = 0) -> int:
    """Return the committed offset of a group; below 0 if it has none."""
    client = Consumer({"bootstrap.servers": broker.servers, "group.id": group, "log_level": 0})
    try:
        return client.committed([TopicPartition(topic, partition)], timeout=10)[0].offset
    finally:
        client.close()


def _read_all(consumer: Consumer, topic: str) -> list[tuple[Any, Any, Any]]:
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
    left, found = set(partitions), []
    while left:
        for message in consumer.consume(10_000, 0.1):
            error = message.error()
            if error is None:
                found.append((message.partition(), message.key(), message.value()))
                left.add(message.partition())
            elif error.code() == KafkaError._PARTITION_EOF:
                left.discard(message.partition())
            else:
                raise KafkaException(error)
    return found
