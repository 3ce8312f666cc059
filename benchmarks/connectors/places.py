"""Inputs and outputs of a run: files, a Kafka broker, a PostgreSQL server."""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from tests.connectors.jdbc.servers import PASSWORD, Postgresql
from tests.connectors.kafka.broker import Broker

from benchmarks.connectors.records import FILE_LENGTH, KAFKA_LENGTH, texts
from benchmarks.workload import written_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.workload import Run


class Place(ABC):
    """Input and output of runs."""

    @abstractmethod
    def prepare(self, run: Run) -> dict[str, Any]:
        """Write the input; return the settings that locate input and output."""

    def written(self, run: Run) -> Iterable[str]:
        """Return the output of a run."""
        return written_lines(run)

    def close(self) -> None:
        """Stop and delete everything that was started."""


class Files(Place):
    """Two files of lines in the directory of the run."""

    def prepare(self, run: Run) -> dict[str, Any]:
        """Write the lines."""
        Path(run.input).mkdir()
        for part in range(2):
            with Path(run.input, f"part-{part}").open("w") as file:
                file.writelines(f"{text}\n" for text in texts(part, run.half, FILE_LENGTH))
        return {}


class Kafka(Place):
    """Topics of two partitions in a separate broker; jobs take a checkpoint every two seconds."""

    def __init__(self) -> None:
        self._directory = tempfile.mkdtemp(prefix="benchmark-")
        self._broker = Broker(Path(self._directory, "broker"))
        self._topics: dict[int, str] = {}

    def prepare(self, run: Run) -> dict[str, Any]:
        """Fill a topic, once for every number of records, and create another."""
        if run.records not in self._topics:
            self._topics[run.records] = self._filled(run)
        return {
            "servers": self._broker.servers,
            "from": self._topics[run.records],
            "to": self._broker.topic(partitions=2),
            "configuration": {
                "execution.checkpointing.interval": "2 s",
                "execution.checkpointing.dir": Path(run.directory, "checkpoints").as_uri(),
            },
        }

    def _filled(self, run: Run) -> str:
        topic = self._broker.topic(partitions=2)
        client = Producer({"bootstrap.servers": self._broker.servers, "queue.buffering.max.messages": 1_000_000})
        for part in range(2):
            for position, text in enumerate(texts(part, run.half, KAFKA_LENGTH)):
                client.produce(topic, text, partition=part)
                if position % 100_000 == 0:
                    client.flush()
        client.flush()
        return topic

    def written(self, run: Run) -> Iterable[str]:
        """Return the committed records."""
        if found := written_lines(run):
            return found
        return [value.decode() for _, _, value in self._broker.records(run.settings["to"])]

    def close(self) -> None:
        """Stop the broker."""
        self._broker.close()
        shutil.rmtree(self._directory, ignore_errors=True)


class Database(Place):
    """A new table for each run, in a separate server."""

    def __init__(self) -> None:
        self._server = Postgresql()

    def prepare(self, run: Run) -> dict[str, Any]:
        """Create a table."""
        return {
            "url": self._server.url,
            "port": self._server.port,
            "user": "me",
            "password": PASSWORD,
            "table": self._server.table("id bigint PRIMARY KEY, name varchar(30)"),
            "batch": 5000,
        }

    def written(self, run: Run) -> Iterable[str]:
        """Return the rows of the table."""
        rows = self._server.execute(f"SELECT id, name FROM {run.settings['table']}")  # noqa: S608 - a table of ours
        return (f"{number},{name}" for number, name in rows)

    def close(self) -> None:
        """Stop the server."""
        self._server.close()
