"""Kinesis source in a task: reads shards."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol, TypedDict, cast

from flintstream.connectors.aws.aggregation import user_records
from flintstream.connectors.aws.client import AwsError, close_client, code_of, core, passing
from flintstream.connectors.aws.shards import AFTER, AT, AT_TIMESTAMP, LATEST, KinesisRecord, of_stream
from flintstream.connectors.patience import Patience
from flintstream.connectors.several import Several
from flintstream.connectors.source import SourceReader, Timestamped
from flintstream.errors import add_note

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from datetime import datetime

    from flintstream.connectors.aws.aggregation import UserRecord
    from flintstream.connectors.aws.shards import KinesisInput, KinesisSplit
    from flintstream.connectors.source import Fetch
    from flintstream.contracts.functions import RuntimeContext

_log = logging.getLogger(__name__)


class _Message(TypedDict):
    SequenceNumber: str
    ApproximateArrivalTimestamp: datetime
    Data: bytes
    PartitionKey: str


class Message(_Message, total=False):
    """A record as the service returns it, or one of those in it."""

    Part: int
    """The position of one that is in a record, unless it is the last one there."""


class Messages(TypedDict, total=False):
    """An answer of GetRecords."""

    Records: list[Message]
    NextShardIterator: str
    MillisBehindLatest: int


class RecordClient(Protocol):
    """The client, as far as a task needs it."""

    def get_shard_iterator(self, **arguments: object) -> dict[str, str]:
        """Return an iterator."""

    def get_records(self, **arguments: object) -> Messages:
        """Return records, and the next iterator."""


def separate(messages: Sequence[Message], split: KinesisSplit) -> Iterator[Message]:
    """Yield messages with those that a producer has put together separated, without those that have been read.

    A producer that did not know that its shard had been split puts records of other shards into one, and sends them
    again to their own. So those outside the shard's range of hash keys are left out.
    """
    for message in messages:
        parts = user_records(message["Data"])
        if parts is None:
            yield message
            continue
        kept = [(index, part) for index, part in enumerate(parts) if _belongs(part, split)]
        read = split.part if message["SequenceNumber"] == split.position else -1
        for place, (index, part) in enumerate(kept, 1):
            own: Message = {**message, "Data": part.data, "PartitionKey": part.partition_key}
            if place < len(kept):
                own["Part"] = index
            if index > read:
                yield own


def _belongs(part: UserRecord, split: KinesisSplit) -> bool:
    return not split.last_hash_key or int(split.first_hash_key) <= part.hash_key <= int(split.last_hash_key)


class _Cursor:
    """The place in a shard: messages that were received and not read, and where the next ones come from."""

    def __init__(self, split: KinesisSplit) -> None:
        self.position, self.part = split.position, split.part
        self.messages: deque[Message] = deque()
        self.iterator: str | None = None
        self.closed = False
        """Whether the shard has no further messages."""
        self.next_request = 0.0
        self.patience = Patience(f"could not read the shard {split.split_id}", first=0.3)


class KinesisReader(SourceReader):
    """Reads shards in turn, one request at a time. A request returns up to 10,000 records."""

    gives_away = True

    def __init__(self, source: KinesisInput) -> None:
        """Read according to ``source``."""
        self._source = source
        self._cursors: dict[str, _Cursor] = {}
        self._ended: set[str] = set()

    def open(self, runtime_context: RuntimeContext) -> None:
        """Make the client, which connects with the first request."""
        self._client = cast("RecordClient", self._source.access.client("kinesis"))

    def close(self) -> None:
        """Disconnect."""
        close_client(self._client)

    def progress(self, splits: Sequence[KinesisSplit]) -> object | None:
        """Return the shards that have been read completely in this epoch."""
        self._ended.difference_update(split.split_id for split in splits)  # an attempt that did not count
        ended, self._ended = sorted(self._ended), set()
        return ended or None

    def pending_records(self, splits: Sequence[KinesisSplit]) -> int | None:
        """Return the number of records that have been received."""
        return sum(len(self._cursors[split.split_id].messages) for split in splits if split.split_id in self._cursors)

    def set_aside(self, split: KinesisSplit) -> None:
        """Drop received messages of a shard."""
        self._cursors.pop(split.split_id, None)

    def read(self, split: KinesisSplit, fetch: Fetch) -> Generator[list[object] | Timestamped, None, bool]:
        """Yield the records of a shard."""
        cursor = self._cursors.get(split.split_id)
        if cursor is None or (cursor.position, cursor.part) != (
            split.position,
            split.part,
        ):  # another worker has read since, or the job restarted
            cursor = self._cursors[split.split_id] = _Cursor(split)
        while True:
            if not cursor.messages and not cursor.closed and not self._receive(cursor, split):
                return False
            if not cursor.messages:
                del self._cursors[split.split_id]
                self._ended.add(split.split_id)
                return True
            messages = [cursor.messages.popleft() for _ in range(min(fetch.size, len(cursor.messages)))]
            records = self._records(split, messages)
            split.start, split.position, split.part = (
                AFTER,
                messages[-1]["SequenceNumber"],
                messages[-1].get("Part", -1),
            )
            cursor.position, cursor.part = split.position, split.part
            if records.values:
                yield records

    def _receive(self, cursor: _Cursor, split: KinesisSplit) -> bool:
        """Receive messages; return whether there is anything new, which may be the end of the shard."""
        now = time.monotonic()
        if now < cursor.next_request:
            return False
        try:
            if cursor.iterator is None:
                cursor.iterator = self._iterator(split)
            arn = of_stream(split.stream) if split.stream.startswith("arn:") else {}
            answer = self._client.get_records(ShardIterator=cursor.iterator, Limit=self._source.most_records, **arn)
        except (core("exceptions").ClientError, core("exceptions").BotoCoreError) as error:
            if code_of(error) == "ExpiredIteratorException":
                cursor.iterator = None
            elif passing(error):
                cursor.next_request = now + cursor.patience.note_failure(str(error))
            else:
                raise AwsError(f"cannot read the shard {split.split_id}: {error}") from None
            return False
        cursor.patience.note_success()
        cursor.next_request = now + self._source.interval_seconds
        cursor.messages.extend(separate(answer["Records"], split))
        cursor.iterator = answer.get("NextShardIterator")
        cursor.closed = cursor.iterator is None
        return cursor.closed or bool(cursor.messages)

    def _iterator(self, split: KinesisSplit) -> str:
        arguments: dict[str, object] = {**of_stream(split.stream), "ShardId": split.shard}
        if split.start == AFTER:
            kind = AFTER if split.part < 0 else AT  # the rest of a record that has others in it
            more: dict[str, object] = {"ShardIteratorType": kind, "StartingSequenceNumber": split.position}
        elif split.start in {LATEST, AT_TIMESTAMP}:
            more = {"ShardIteratorType": AT_TIMESTAMP, "Timestamp": split.time}
        else:
            more = {"ShardIteratorType": split.start}
        try:
            answer = self._client.get_shard_iterator(**arguments, **more)
        except core("exceptions").ClientError as error:
            # The clock of the service may be behind; a time in its future means the latest record.
            if split.start != LATEST or code_of(error) != "InvalidArgumentException":
                raise
            answer = self._client.get_shard_iterator(**arguments, ShardIteratorType=LATEST)
        return answer["ShardIterator"]

    def _records(self, split: KinesisSplit, messages: list[Message]) -> Timestamped:
        values: list[object] = []
        timestamps: list[int] = []
        for message in messages:
            at = int(message["ApproximateArrivalTimestamp"].timestamp() * 1000)
            number = message["SequenceNumber"]
            whole = KinesisRecord(message["Data"], message["PartitionKey"], number, at, split.stream, split.shard)
            try:
                value = self._source.deserialize(whole)
            except Exception as error:
                add_note(error, f"while reading the record {number} of the shard {split.split_id}")
                raise
            if type(value) is Several:
                values += value
                timestamps += [at] * len(value)
            elif value is not None:
                values.append(value)
                timestamps.append(at)
        return Timestamped(values, timestamps)
