"""``python -m tests.connectors.kafka.commit_speed``: how long the driver and tasks take to commit the same epochs.

The numbers behind ``SHARED_BYTES``. Both write in turn, so that other load on the machine hits both.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.connectors.kafka.broker import Broker
from tests.connectors.kafka.jobs import sink

from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import KafkaSink
from flintstream.engine.spark.engine import SparkEngine
from flintstream.storage.local import LocalFileStore

ROUNDS = 7
RECORDS = (1_000, 10_000, 40_000, 100_000, 400_000)
"""Of an epoch, all subtasks together, 100 bytes each."""
PARALLELISM = (1, 2)
BLOCK = 1_000
TEXTS = [f"{number:0100}" for number in range(BLOCK)]


class Course:
    """A run of one sink: its writers, its committer, and what it has measured."""

    def __init__(self, broker: Broker, topic: str, engine: SparkEngine, parallelism: int, *, tasks: bool) -> None:
        self.directory = tempfile.mkdtemp()
        built = sink(broker, topic, DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix(f"{topic}-{tasks}")
        output = replace(built.build()._output, shared_bytes=0 if tasks else 1 << 60)
        store = LocalFileStore(self.directory)
        self.writers = [
            output.create_writer(WriterContext(subtask, parallelism, "0-0-a", "job/sink", run="run", staging=store))
            for subtask in range(parallelism)
        ]
        committer = KafkaSink(output).create_committer()
        assert committer is not None
        self.committer = committer
        self.committer.run_tasks = engine.run_tasks
        self.taken: list[float] = []

    def commit(self, records: int) -> None:
        """Prepare an epoch, and measure how long it takes to commit it."""
        prepared = []
        for writer in self.writers:
            for _ in range(records // len(self.writers) // BLOCK or 1):
                writer.write(TEXTS[: records // len(self.writers)], None)
            prepared += writer.prepare_commit(end_of_input=False)
        began = time.perf_counter()
        assert self.committer.commit(prepared) == []
        self.taken.append(time.perf_counter() - began)

    def close(self) -> None:
        self.committer.close()
        shutil.rmtree(self.directory)


def main() -> None:
    """Print medians."""
    directory = tempfile.mkdtemp()
    broker = Broker(Path(directory, "broker"))
    engine = SparkEngine({"flintstream.master": "local[2]"})
    try:
        for parallelism in PARALLELISM:
            for records in RECORDS:
                topic = broker.topic(partitions=2)
                ways = [Course(broker, topic, engine, parallelism, tasks=tasks) for tasks in (False, True)]
                if parallelism == 1:  # tasks never write for a single subtask
                    ways[1:] = []
                for turn in range(ROUNDS + 1):
                    for way in ways[:: 1 if turn % 2 else -1]:
                        way.commit(records)
                for way, name in zip(ways, ("driver", "tasks"), strict=False):
                    taken = way.taken[1:]  # the first one connects
                    median = statistics.median(taken)
                    print(
                        f"parallelism {parallelism}, {records:8,} records, {name:6}: {1000 * median:6.0f} ms "
                        f"({1000 * min(taken):.0f} to {1000 * max(taken):.0f}), {records / median:10,.0f} records/s, "
                        f"first {1000 * way.taken[0]:.0f} ms",
                        flush=True,
                    )
                    way.close()
    finally:
        engine.stop()
        broker.close()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
