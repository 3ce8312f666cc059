"""``python -m tests.connectors.kafka.speed``: records per second of source and sink alone, and of the bare client."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from tests.connectors.kafka.broker import Broker
from tests.connectors.kafka.jobs import sink, source

from flintstream.connectors.kafka.reader import KafkaReader
from flintstream.connectors.sink import WriterContext
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.runtime.operators.contexts import StreamingRuntimeContext
from flintstream.storage.local import LocalFileStore

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDS = 1_000_000
PARTITIONS = 4
BLOCK = 4096
ROUNDS = 3
TEXTS = [f"{number:0100}" for number in range(BLOCK)]


def bare_producer(broker: Broker) -> None:
    topic = broker.topic(partitions=PARTITIONS)
    client = Producer({"bootstrap.servers": broker.servers, "queue.buffering.max.messages": 1_000_000})
    produce, values = client.produce, [text.encode() for text in TEXTS]
    for _ in range(RECORDS // BLOCK):
        for value in values:
            produce(topic, value)
        client.poll(0)
    client.flush()


def sink_of(guarantee: DeliveryGuarantee) -> Callable[[Broker], None]:
    def run(broker: Broker) -> None:
        topic = broker.topic(partitions=PARTITIONS)
        built = sink(broker, topic, guarantee).build()
        directory = tempfile.mkdtemp()
        store = LocalFileStore(directory)
        writer = built.create_writer(WriterContext(0, 1, "0-0-a", "job/sink", run="run", staging=store))
        for _ in range(RECORDS // BLOCK):
            writer.write(TEXTS, None)
        prepared = writer.prepare_commit(end_of_input=True)
        committer = built.create_committer()
        if committer is not None:
            assert committer.commit(prepared) == []
            committer.close()
        writer.close()
        shutil.rmtree(directory)

    return run


def bare_consumer(broker: Broker) -> None:
    client = Consumer({"bootstrap.servers": broker.servers, "group.id": "g", "fetch.queue.backoff.ms": 10})
    client.assign([TopicPartition("filled", number, OFFSET_BEGINNING) for number in range(PARTITIONS)])
    read = 0
    while read < RECORDS:
        read += sum(message.value() is not None for message in client.consume(BLOCK, 0.1))
    client.close()


def whole_source(broker: Broker) -> None:
    built = source(broker, "filled").build()
    enumerator = built.create_enumerator(1)
    splits = list(enumerator.discover())
    reader = built.create_reader()
    assert isinstance(reader, KafkaReader)
    reader.open(StreamingRuntimeContext("source", 0, 1, 128, {}, None))
    fetch, read = Fetch(BLOCK), 0
    while splits:
        for split in list(splits):
            reading = reader.read(split, fetch)
            try:
                while True:
                    read += len(next(reading).values)  # type: ignore[union-attr]
            except StopIteration as stop:
                if stop.value:
                    splits.remove(split)
    assert read == RECORDS
    reader.close()
    enumerator.close()


def main() -> None:
    """Print the best of some rounds."""
    directory = tempfile.mkdtemp()
    broker = Broker(Path(directory, "broker"))
    try:
        broker.topic("filled", PARTITIONS)
        client = Producer({"bootstrap.servers": broker.servers, "queue.buffering.max.messages": 2_000_000})
        for number in range(RECORDS):
            client.produce("filled", TEXTS[number % BLOCK], partition=number % PARTITIONS)
        client.flush()
        runs: dict[str, Callable[[Broker], None]] = {
            "bare consumer": bare_consumer,
            "source": whole_source,
            "bare producer": bare_producer,
        }
        runs.update({f"sink, {guarantee.name}": sink_of(guarantee) for guarantee in reversed(DeliveryGuarantee)})
        for name, run in runs.items():
            best, least = 0.0, float("inf")
            for _ in range(ROUNDS):
                began, worked = time.perf_counter(), time.process_time()
                run(broker)
                best = max(best, RECORDS / (time.perf_counter() - began))
                least = min(least, (time.process_time() - worked) / RECORDS)
            print(f"{name:22} {best:10,.0f} records/s, {least * 1e6:.2f} us of processor time per record", flush=True)
    finally:
        broker.close()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
