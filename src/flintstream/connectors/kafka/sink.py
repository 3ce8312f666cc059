"""Kafka sink: writes records to topics directly, or, for exactly-once delivery, through the committer."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.connectors.kafka.staging import Stage
from flintstream.connectors.kafka.writing import Writing
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import shorten
from flintstream.storage.custom import CustomFileStore
from flintstream.storage.memory import MemoryFileStore
from flintstream.storage.paths import hashed_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.connectors.kafka.serializing import Block, RecordSerializer
    from flintstream.connectors.sink import WriterContext

_log = logging.getLogger(__name__)

DEFAULT_LARGEST = 1_048_576
OVERHEAD = 512
"""Bytes of a record that are neither key nor value, at most."""

LONGEST_NAME = 255
"""The longest transactional id that brokers accept, approximately."""

SHARED_BYTES = 4 << 20
"""Up to this size, the driver writes an epoch in one transaction for all subtasks. Tasks write larger ones.

The committables contain the decision, so another release may have another size.
"""


@dataclass(frozen=True)
class KafkaOutput:
    """Configuration of a Kafka sink. Tasks get a copy."""

    properties: Mapping[str, str] = field(repr=False)  # may contain passwords
    serializer: RecordSerializer
    exactly_once: bool = False
    flushes: bool = True
    """Whether an epoch waits for the delivery of its records."""
    transactional_id: str = ""
    """Prefix of the transactional ids; derived from job and operator if empty."""
    writes_timestamps: bool = True
    only_logs: bool = False
    """Whether to log records that could not be delivered, instead of failing."""
    shared_bytes: int = SHARED_BYTES
    """Up to this size of an epoch, the driver writes the records of all subtasks."""

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return the writer for one subtask."""
        return StagingWriter(self, context) if self.exactly_once else DirectWriter(self)


class DirectWriter(SinkWriter):
    """Sends records immediately. Records that are written again after a failure are duplicated."""

    def __init__(self, output: KafkaOutput) -> None:
        """Make the producer."""
        self._output = output
        self._writing = Writing(output.properties)

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Pass a block to the producer."""
        times = timestamps if self._output.writes_timestamps else None
        self._writing.write(self._output.serializer.block(values, times, self._writing.partitions))
        self._check()

    def _check(self) -> None:
        try:
            self._writing.check()
        except KafkaConnectorError as error:
            if not self._output.only_logs:
                raise
            _log.error("%s", error)

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Wait for the delivery of all records: a finished epoch is not read again."""
        if self._output.flushes or end_of_input:
            self._writing.flush()
            self._check()
        return ()

    def close(self) -> None:
        """Send the remaining records."""
        self._writing.client.flush(0 if self._output.flushes else 10)


def default_name(identity: str) -> str:
    """Return the transactional id of a sink with no prefix: the job's id and the uid, if Kafka's client can send them.

    >>> default_name("job/sink")
    'flintstream-job/sink'
    """
    name = f"flintstream-{identity}"
    if len(name) <= LONGEST_NAME and "\0" not in name:
        return name
    job, _, uid = identity.partition("/")
    return f"flintstream-{job}/{hashed_name(uid)}"


class StagingWriter(SinkWriter):
    """Stages the records of an epoch for the committer."""

    def __init__(self, output: KafkaOutput, context: WriterContext) -> None:
        """Stage large epochs in a file of the checkpoint directory, if there is one."""
        self._output = output
        self._context = context
        self._name = output.transactional_id or default_name(context.identity)
        self._store = None
        # The driver opens the files by name, so it cannot read stores that exist only in this process.
        if context.staging is not None and not isinstance(context.staging, (MemoryFileStore, CustomFileStore)):
            self._store = context.staging.child(hashed_name(context.identity))
        self._number = 0
        self._stage: Stage | None = None
        largest = output.properties.get("max.request.size") or output.properties.get("message.max.bytes")
        self._largest = int(largest or DEFAULT_LARGEST) - OVERHEAD
        self._writing: Writing | None = None

    def _partitions(self, topic: str) -> list[int]:
        if self._writing is None:
            self._writing = Writing(self._output.properties)
        return self._writing.partitions(topic)

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Stage a block."""
        if self._stage is None:
            self._stage = Stage(
                self._store, f"{self._context.run}/{self._context.subtask}-{self._number}-{self._unique()}"
            )
        times = timestamps if self._output.writes_timestamps else None
        block = self._output.serializer.block(values, times, self._partitions)
        if max((len(value) for value in block.values if value is not None), default=0) > self._largest:
            self._refuse(values, block)
        self._stage.add(block)

    def _unique(self) -> str:
        return self._context.attempt.rpartition("-")[2]

    def _refuse(self, values: list[Any], block: Block) -> None:
        """Reject an oversized record now: its transaction could never commit."""
        for record, value in zip(values, block.values, strict=True):
            if value is not None and len(value) > self._largest:
                raise KafkaConnectorError(
                    f"{shorten(record)} has {len(value)} bytes, but 'max.request.size' allows "
                    f"{self._largest + OVERHEAD}: raise it, or write smaller records"
                )

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Return the committable of the epoch, if it has any records."""
        stage, self._stage = self._stage, None
        number, self._number = self._number, self._number + 1
        if stage is None:
            return ()
        own = self._context
        # A single subtask has nothing to gain from a task.
        alone = own.parallelism > 1 and stage.size * own.parallelism > self._output.shared_bytes
        return (stage.prepare(self._name, own.run, number, own.subtask, own.parallelism if alone else 0),)

    def snapshot(self) -> object | None:
        """Return the number of epochs in this run."""
        return self._number

    def restore(self, state: Any) -> None:
        """Continue counting epochs."""
        self._number = state

    def recover(self, states: Sequence[Any]) -> None:
        """Delete the files of earlier runs: the part that a checkpoint contains is committed by now."""
        if self._store is None:
            return
        for file in self._store.list(""):
            run, _, name = file.partition("/")
            subtask = name.partition("-")[0]
            mine = subtask.isdecimal() and int(subtask) % self._context.parallelism == self._context.subtask
            if mine and run != self._context.run:
                self._store.delete(file)

    def close(self) -> None:
        """Discard records that were not prepared."""
        if self._stage is not None:
            self._stage.discard()
