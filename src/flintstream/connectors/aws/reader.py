"""Kinesis source in a task: reads shards."""

from __future__ import annotations

import importlib
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict, cast

from flintstream.connectors.aws.aggregation import user_records
from flintstream.connectors.aws.client import AwsError, close_client, code_of, core, passing
from flintstream.connectors.aws.fan_out import Ended, Subscription, find_consumer
from flintstream.connectors.aws.shards import AFTER, AT, AT_TIMESTAMP, LATEST, KinesisRecord, of_stream
from flintstream.connectors.patience import Patience
from flintstream.connectors.several import Several
from flintstream.connectors.source import SourceReader, Timestamped
from flintstream.errors import add_note

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from flintstream.connectors.aws.aggregation import Message, UserRecord
    from flintstream.connectors.aws.fan_out import ConsumerClient, EventStream
    from flintstream.connectors.aws.shards import KinesisInput, KinesisSplit
    from flintstream.connectors.source import Fetch
    from flintstream.contracts.functions import RuntimeContext

_log = logging.getLogger(__name__)


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

    def subscribe_to_shard(self, **arguments: object) -> dict[str, EventStream]:
        """Return events with records."""


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
        self.subscription: Subscription | None = None
        self.continuation = ""
        """Where the next subscription starts; empty for the position."""
        self.patience = Patience(f"could not read the shard {split.split_id}", first=0.3)

    def close(self) -> None:
        """End the subscription, if there is one."""
        if self.subscription is not None:
            self.subscription.close()


class _Start(NamedTuple):
    """Where to start in a shard."""

    kind: str
    number: dict[str, object]
    time: dict[str, object]


def _start(split: KinesisSplit) -> _Start:
    if split.start == AFTER:
        kind = AFTER if split.part < 0 else AT  # the rest of a record that has others in it
        return _Start(kind, {"SequenceNumber": split.position}, {})
    if split.start in {LATEST, AT_TIMESTAMP}:
        return _Start(AT_TIMESTAMP, {}, {"Timestamp": split.time})
    return _Start(split.start, {}, {})


def _is_in_future(error: Exception, split: KinesisSplit) -> bool:
    """Return whether the clock of the service is behind; a time in its future means the latest record."""
    return split.start == LATEST and code_of(error) == "InvalidArgumentException"


def _may_pass(error: Exception) -> bool:
    """Return whether a subscription may succeed later. Another one of the same consumer ends after a while."""
    broken = importlib.import_module("urllib3.exceptions").HTTPError  # within an answer, botocore does not wrap it
    return isinstance(error, (broken, OSError)) or code_of(error) == "ResourceInUseException" or passing(error)


class KinesisReader(SourceReader):
    """Reads shards in turn: one request at a time, which returns up to 10,000 records, or subscriptions."""

    gives_away = True

    def __init__(self, source: KinesisInput) -> None:
        """Read according to ``source``."""
        self._source = source
        self._cursors: dict[str, _Cursor] = {}
        self._ended: set[str] = set()
        self._consumers: dict[str, str] = {}
        """The consumer of each stream, for enhanced fan-out."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Make the client, which connects with the first request."""
        self._client = cast("RecordClient", self._source.access.client("kinesis"))

    def close(self) -> None:
        """Disconnect."""
        for cursor in self._cursors.values():
            cursor.close()
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
        if (cursor := self._cursors.pop(split.split_id, None)) is not None:
            cursor.close()

    def read(self, split: KinesisSplit, fetch: Fetch) -> Generator[list[object] | Timestamped, None, bool]:
        """Yield the records of a shard."""
        cursor = self._cursors.get(split.split_id)
        place = split.position, split.part
        if cursor is None or (cursor.position, cursor.part) != place:  # another worker has read, or the job restarted
            self.set_aside(split)
            cursor = self._cursors[split.split_id] = _Cursor(split)
        receive = self._receive if self._source.fan_out is None else self._take
        while True:
            if not cursor.messages and not cursor.closed and not receive(cursor, split):
                return False
            if not cursor.messages:
                self.set_aside(split)
                self._ended.add(split.split_id)
                return True
            messages = [cursor.messages.popleft() for _ in range(min(fetch.size, len(cursor.messages)))]
            records = self._records(split, messages)
            last = messages[-1]
            split.start, split.position, split.part = AFTER, last["SequenceNumber"], last.get("Part", -1)
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

    def _take(self, cursor: _Cursor, split: KinesisSplit) -> bool:
        """Take an event of the subscription; return whether there is anything new, as :meth:`_receive` does."""
        now = time.monotonic()
        if cursor.subscription is None:
            if now < cursor.next_request:
                return False
            cursor.subscription = Subscription(lambda: self._subscribe(cursor.continuation, split))
        event = cursor.subscription.next_event()
        if event is None:
            return False
        if isinstance(event, Ended):
            cursor.subscription = None
            if event.error is not None:
                if not _may_pass(event.error):
                    raise AwsError(f"cannot read the shard {split.split_id}: {event.error}") from None
                cursor.next_request = now + cursor.patience.note_failure(str(event.error))
            return False
        cursor.patience.note_success()
        cursor.messages.extend(separate(event["Records"], split))
        cursor.continuation = event.get("ContinuationSequenceNumber", "")
        cursor.closed = not cursor.continuation
        return cursor.closed or bool(cursor.messages)

    def _subscribe(self, continuation: str, split: KinesisSplit) -> EventStream:
        fan_out = self._source.fan_out
        if fan_out is not None and split.stream not in self._consumers:
            # A job that restarts has removed the consumer, and its driver may not have registered it again
            client = cast("ConsumerClient", self._client)
            found = find_consumer(client, split.stream, fan_out, registers=fan_out.managed)
            self._consumers[split.stream] = found
        start = _start(split)
        position = {"Type": start.kind, **start.time, **start.number}
        if continuation:
            position = {"Type": AFTER, "SequenceNumber": continuation}
        arguments = {"ConsumerARN": self._consumers[split.stream], "ShardId": split.shard}
        try:
            answer = self._client.subscribe_to_shard(**arguments, StartingPosition=position)
        except core("exceptions").ClientError as error:
            if not _is_in_future(error, split):
                raise
            answer = self._client.subscribe_to_shard(**arguments, StartingPosition={"Type": LATEST})
        return answer["EventStream"]

    def _iterator(self, split: KinesisSplit) -> str:
        arguments: dict[str, object] = {**of_stream(split.stream), "ShardId": split.shard}
        start = _start(split)
        more = {f"Starting{name}": value for name, value in start.number.items()} | start.time
        try:
            answer = self._client.get_shard_iterator(**arguments, ShardIteratorType=start.kind, **more)
        except core("exceptions").ClientError as error:
            if not _is_in_future(error, split):
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
