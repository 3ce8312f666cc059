"""Kinesis source in the driver: finds shards, and hands out those whose parents have been read."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypedDict, cast

from flintstream.checkpoint.registry import record
from flintstream.connectors.aws.client import AwsError, close_client, code_of, core, passing
from flintstream.connectors.aws.fan_out import find_consumer
from flintstream.connectors.patience import Patience
from flintstream.connectors.source import SourceSplit, SplitEnumerator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.aws.client import AwsAccess
    from flintstream.connectors.aws.fan_out import ConsumerClient, FanOut

_log = logging.getLogger(__name__)

LATEST, TRIM_HORIZON, AT_TIMESTAMP, AFTER = "LATEST", "TRIM_HORIZON", "AT_TIMESTAMP", "AFTER_SEQUENCE_NUMBER"
AT = "AT_SEQUENCE_NUMBER"
STARTS = (LATEST, TRIM_HORIZON, AT_TIMESTAMP)
START_SECONDS = 30.0
"""How long the start of a job waits for a service that does not answer."""


class ShardInfo(TypedDict, total=False):
    """A shard as the service lists it."""

    ShardId: str
    ParentShardId: str
    AdjacentParentShardId: str
    SequenceNumberRange: dict[str, str]
    HashKeyRange: dict[str, str]


class ShardList(TypedDict, total=False):
    """An answer of ListShards."""

    Shards: list[ShardInfo]
    NextToken: str


class ShardLister(Protocol):
    """The client, as far as the driver needs it."""

    def list_shards(self, **arguments: object) -> ShardList:
        """List the shards of a stream."""


@record
@dataclass
class KinesisSplit(SourceSplit):
    """A shard, from a position on."""

    stream: str
    shard: str
    start: str
    """``TRIM_HORIZON``, ``LATEST``, ``AT_TIMESTAMP``, or ``AFTER_SEQUENCE_NUMBER`` once a record has been read."""
    position: str = ""
    """The sequence number of the last record that was read."""
    time: float = 0.0
    """Of ``AT_TIMESTAMP``: seconds since the epoch."""

    part: int = -1
    """Of the last record that was read, which had others in it: the position of the last one of these that was read.

    -1 if all have been read.
    """

    first_hash_key: str = ""
    last_hash_key: str = ""
    """The range of the shard, as decimal numbers; empty if a release that did not know it has assigned the shard."""


@dataclass(frozen=True)
class KinesisInput:
    """Configuration of a Kinesis source. Tasks get a copy."""

    access: AwsAccess
    streams: tuple[str, ...]
    """Names or ARNs."""
    deserialize: Callable[[KinesisRecord], object] = field(repr=False)
    """Returns the record of a message, or None to skip it."""
    start: str = LATEST
    time: float = 0.0
    discovery_seconds: float = 10.0
    most_records: int = 10_000
    """Maximum number of records in an answer."""
    interval_seconds: float = 0.2
    """Time between two requests for a shard, of which the service allows five a second."""
    produced_type: TypeInformation | None = None
    fan_out: FanOut | None = None
    """The consumer that gets records pushed; None to ask for them."""


@dataclass(frozen=True)
class KinesisRecord:
    """A complete record of Kinesis."""

    data: bytes
    partition_key: str
    sequence_number: str
    timestamp: int
    """Approximate time of arrival (ms since the epoch)."""
    stream: str
    shard: str


def of_stream(stream: str) -> dict[str, str]:
    """Return the argument of a request that names a stream."""
    return {"StreamARN": stream} if stream.startswith("arn:") else {"StreamName": stream}


class KinesisEnumerator(SplitEnumerator):
    """Finds shards. A child is handed out when its parents have been read, so that the order per key is kept."""

    def __init__(self, source: KinesisInput) -> None:
        """Connect on first use, not here."""
        self._source = source
        self._parents: dict[str, list[str]] = {}
        """Each known shard -> the parents that must be read before it."""
        self._waiting: dict[str, KinesisSplit] = {}
        self._done: set[str] = set()
        """Shards that have been read completely, while the service lists them."""
        self._begun = False
        self._next_look = 0.0
        self._client: ShardLister | None = None
        self._consumers: dict[str, str] = {}
        """The consumer of each stream, for enhanced fan-out."""
        self._patience = Patience("could not list the shards of Kinesis")

    def is_finished(self) -> bool:
        """Return False: there may always be new shards."""
        return False

    def discover(self) -> Sequence[KinesisSplit]:
        """Return new shards whose parents have been read."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + self._look()
        ready = [split for name, split in self._waiting.items() if self._done.issuperset(self._parents[name])]
        for split in ready:
            del self._waiting[split.split_id]
        return ready

    def _look(self) -> float:
        """Look for new shards; return the time until the next look (s)."""
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                for stream in self._source.streams:
                    self._learn(stream, self._list(stream))
            except (core("exceptions").ClientError, core("exceptions").BotoCoreError) as error:
                if not passing(error) or (not self._begun and time.monotonic() >= until):
                    raise AwsError(f"cannot list the shards of {', '.join(self._source.streams)}: {error}") from None
                delay = self._patience.note_failure(str(error))
                if self._begun:
                    return delay
                time.sleep(delay)
            else:
                self._patience.note_success()
                self._begun = True
                return self._source.discovery_seconds

    def _list(self, stream: str) -> list[ShardInfo]:
        if self._client is None:
            self._client = cast("ShardLister", self._source.access.client("kinesis"))
        found: list[ShardInfo] = []
        arguments: dict[str, object] = dict(of_stream(stream))
        while True:
            try:
                answer = self._client.list_shards(**arguments)
            except core("exceptions").ClientError as error:
                if code_of(error) == "ResourceNotFoundException":
                    raise AwsError(f"the stream '{stream}' does not exist: {error}") from None
                raise
            found += answer.get("Shards", [])
            if not answer.get("NextToken"):
                return found
            arguments = {"NextToken": answer["NextToken"]}

    def _learn(self, stream: str, shards: list[ShardInfo]) -> None:
        """Add new shards, and forget those that the service has forgotten."""
        source = self._source
        if source.fan_out is not None and stream not in self._consumers:
            client = cast("ConsumerClient", self._client)
            self._consumers[stream] = find_consumer(client, stream, source.fan_out, registers=source.fan_out.managed)
        listed = {f"{stream}/{shard['ShardId']}": shard for shard in shards}
        for name, shard in listed.items():
            if name in self._parents:
                continue
            parents = [shard.get("ParentShardId"), shard.get("AdjacentParentShardId")]
            self._parents[name] = [f"{stream}/{parent}" for parent in parents if f"{stream}/{parent}" in listed]
            if self._begun:
                split = KinesisSplit(name, stream, shard["ShardId"], TRIM_HORIZON)
            elif source.start == LATEST:
                if shard.get("SequenceNumberRange", {}).get("EndingSequenceNumber"):
                    self._done.add(name)
                    continue
                # A time, because after a restart the latest record would be another one
                split = KinesisSplit(name, stream, shard["ShardId"], LATEST, time=time.time())
            else:
                split = KinesisSplit(name, stream, shard["ShardId"], source.start, time=source.time)
            span = shard.get("HashKeyRange", {})
            split.first_hash_key, split.last_hash_key = span.get("StartingHashKey", ""), span.get("EndingHashKey", "")
            self._waiting[name] = split
        for name in [name for name in self._done if name.startswith(f"{stream}/") and name not in listed]:
            if not any(name in self._parents[child] for child in self._waiting):
                self._done.discard(name)
                self._parents.pop(name, None)

    def epoch_progressed(self, progress: Sequence[object]) -> None:
        """Note the shards that have been read completely; their children may be next."""
        for ended in progress:
            self._done.update(cast("list[str]", ended))
            self._next_look = 0.0

    def close(self) -> None:
        """Disconnect, and remove the consumers that the job has registered."""
        if self._source.fan_out is not None and self._source.fan_out.managed:
            for stream, arn in self._consumers.items():
                try:
                    cast("ConsumerClient", self._client).deregister_stream_consumer(ConsumerARN=arn)
                except (core("exceptions").ClientError, core("exceptions").BotoCoreError) as error:
                    _log.warning("the consumer '%s' of '%s' remains: %s", self._source.fan_out.name, stream, error)
        close_client(self._client)

    def snapshot(self) -> object:
        """Return the known shards, those that wait and those that have been read."""
        return (self._begun, dict(self._parents), list(self._waiting.values()), sorted(self._done))

    def restore(self, state: object) -> None:
        """Restore what :meth:`snapshot` returned."""
        begun, parents, waiting, done = cast("tuple[bool, dict[str, list[str]], list[KinesisSplit], list[str]]", state)
        self._begun, self._parents, self._done = begun, dict(parents), set(done)
        self._waiting = {split.split_id: split for split in waiting}
