"""Source for topics of several clusters, which may come and go. Each cluster is read like a separate source."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from flintstream.checkpoint.registry import record, register
from flintstream.common._text.secrets import has_hidden, hide_secrets
from flintstream.connectors.kafka.offsets import Subscription
from flintstream.connectors.kafka.reader import KafkaReader
from flintstream.connectors.kafka.source import KafkaEnumerator
from flintstream.connectors.source import SourceReader, SourceSplit, SplitEnumerator
from flintstream.errors import FlintstreamError, add_note

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping, Sequence

    from flintstream.connectors.kafka.input import KafkaInput
    from flintstream.connectors.source import Fetch, SourceWatermark, Timestamped
    from flintstream.contracts.functions import RuntimeContext

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ClusterMetadata:
    """The topics of a cluster that belong to a stream, and the properties to reach the cluster.

    >>> metadata = ClusterMetadata(frozenset({"orders"}), {"bootstrap.servers": "localhost:9092"})
    >>> metadata.topics
    frozenset({'orders'})
    """

    topics: frozenset[str]
    properties: Mapping[str, str] = field(hash=False, repr=False)  # may contain passwords


@dataclass(frozen=True)
class KafkaStream:
    """A stream: topics in one or more clusters.

    >>> metadata = ClusterMetadata(frozenset({"orders"}), {"bootstrap.servers": "localhost:9092"})
    >>> list(KafkaStream("orders", {"main": metadata}).clusters)
    ['main']
    """

    stream_id: str
    clusters: Mapping[str, ClusterMetadata] = field(hash=False)
    """Cluster id -> its topics and properties."""


class MetadataService(ABC):
    """A registry of the clusters and topics that each stream consists of."""

    @abstractmethod
    def get_all_streams(self) -> Collection[KafkaStream]:
        """Return all streams."""

    @abstractmethod
    def describe_streams(self, stream_ids: Collection[str]) -> Mapping[str, KafkaStream]:
        """Return the streams with these ids."""

    def close(self) -> None:
        """Release the resources of the service.

        >>> from flintstream.datastream.connectors import KafkaMetadataService
        >>> class FromFile(KafkaMetadataService):
        ...     def close(self):
        ...         print("closed")
        >>> FromFile.close(None)
        closed
        """


@dataclass(frozen=True)
class DynamicInput:
    """Configuration of a dynamic Kafka source. Tasks get a copy."""

    template: KafkaInput
    """Used for every cluster; the cluster's own properties override it."""
    service: MetadataService
    subscribed: Callable[[MetadataService], Collection[KafkaStream]]
    discovery_ms: int = -1
    """How often to ask the service, in ms; only once if negative."""
    most_failures: int = 1
    """How many times in a row the service may fail before the job fails."""

    def of(self, properties: Mapping[str, str], topics: Collection[str] = ()) -> KafkaInput:
        """Return the input that reads one cluster."""
        own = {**self.template.properties, **properties}
        return replace(self.template, properties=own, subscription=Subscription(topics=tuple(sorted(topics))))

    def properties_of(self, cluster: str, properties: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return the properties of a cluster with the secrets, which checkpoints do not contain.

        Asks the service for them; None if it no longer knows the cluster.
        """
        if not has_hidden(properties):
            return properties
        for stream in self.subscribed(self.service):
            if cluster in stream.clusters:
                return stream.clusters[cluster].properties
        return None


@dataclass
class DynamicSplit(SourceSplit):
    """A partition of a cluster."""

    cluster: str
    properties: Mapping[str, str] = field(repr=False)
    split: Any


register(
    "DynamicSplit",
    DynamicSplit,
    lambda split: {**vars(split), "properties": hide_secrets(split.properties)},  # a checkpoint contains no secrets
    lambda plain: DynamicSplit(**plain),
)


@record
@dataclass
class RemovedSplit(SourceSplit):
    """Tells a reader which (cluster, topic) pairs to stop reading."""

    removed: frozenset[tuple[str, str]]


@dataclass
class _Cluster:
    topics: frozenset[str]
    properties: Mapping[str, str]
    enumerator: KafkaEnumerator


class DynamicEnumerator(SplitEnumerator):
    """Finds clusters and topics, and delegates the search for partitions to one enumerator per cluster."""

    replaces_progress = True

    def __init__(self, source: DynamicInput, parallelism: int) -> None:
        """Query the service on the first ``discover``, not here."""
        self._source = source
        self._parallelism = parallelism
        self._clusters: dict[str, _Cluster] = {}
        self._next_look: float | None = time.monotonic()
        self._failures = 0
        self._asked = False
        self._count = 0

    def discover(self) -> Sequence[SourceSplit]:
        """Return new partitions and, for each subtask, the removed topics."""
        found: list[SourceSplit] = []
        if self._next_look is not None and time.monotonic() >= self._next_look:
            found += self._look()
        for name, cluster in self._clusters.items():
            for split in cluster.enumerator.discover():
                found.append(DynamicSplit(f"{name}/{split.split_id}", name, cluster.properties, split))
        return found

    def _look(self) -> list[SourceSplit]:
        source = self._source
        interval = source.discovery_ms
        self._next_look = time.monotonic() + interval / 1000 if interval >= 0 else None
        try:
            streams = source.subscribed(source.service)
        except Exception:
            self._failures += 1
            if not self._asked or self._failures > source.most_failures:
                raise
            _log.warning("could not discover Kafka streams; will retry", exc_info=True)
            return []
        self._failures, self._asked = 0, True
        topics: dict[str, set[str]] = {}
        properties: dict[str, Mapping[str, str]] = {}
        for stream in streams:
            for name, metadata in stream.clusters.items():
                topics.setdefault(name, set()).update(metadata.topics)
                properties[name] = metadata.properties
        before = {(name, topic) for name, cluster in self._clusters.items() for topic in cluster.topics}
        removed = before - {(name, topic) for name, several in topics.items() for topic in several}
        for name, several in topics.items():
            self._take_up(name, frozenset(several), properties[name])
        for name in self._clusters.keys() - topics.keys():
            self._clusters.pop(name).enumerator.close()
        if not removed:
            return []
        self._count += 1
        # One for each subtask: splits are dealt evenly.
        return [RemovedSplit(f"removed-{self._count}-{i}", frozenset(removed)) for i in range(self._parallelism)]

    def _take_up(self, name: str, topics: frozenset[str], properties: Mapping[str, str]) -> None:
        known = self._clusters.get(name)
        if known is not None and known.topics == topics:
            return
        enumerator = KafkaEnumerator(self._source.of(properties, topics))
        if known is not None:  # keep known partitions, but forget removed topics: they may come back
            partitions, begun = cast("tuple[list[tuple[str, int]], bool]", known.enumerator.snapshot())
            enumerator.restore(([partition for partition in partitions if partition[0] in topics], begun))
            known.enumerator.close()
        self._clusters[name] = _Cluster(topics, properties, enumerator)

    def is_finished(self) -> bool:
        """Tell whether no further partitions will appear."""
        return self._next_look is None and all(cluster.enumerator.is_finished() for cluster in self._clusters.values())

    def snapshot(self) -> object:
        """Return the clusters and their partitions."""
        return {
            name: (sorted(item.topics), hide_secrets(item.properties), item.enumerator.snapshot())
            for name, item in self._clusters.items()
        }

    def restore(self, state: Any) -> None:
        """Restore the clusters and their partitions."""
        for name, (topics, properties, known) in state.items():
            # Without the secrets of a cluster that is gone: the first look at the service removes it.
            self._take_up(name, frozenset(topics), self._source.properties_of(name, properties) or properties)
            self._clusters[name].enumerator.restore(known)

    def epoch_progressed(self, progress: Sequence[object]) -> None:
        """Let the enumerators of all clusters note how far the readers have come."""
        for name, cluster in self._clusters.items():
            told = [item[name] for item in progress if isinstance(item, dict) and name in item]
            if told:
                cluster.enumerator.epoch_progressed(told)

    def checkpoint_completed(self, progress: Sequence[Any]) -> None:
        """Commit offsets to the groups in all clusters."""
        for name, cluster in self._clusters.items():
            told = [item[name] for item in progress if name in item]
            if told:
                cluster.enumerator.checkpoint_completed(told)

    def epoch_read(self, progress: Sequence[Any]) -> None:
        """Commit offsets to the groups in all clusters."""
        for name, cluster in self._clusters.items():
            told = [item[name] for item in progress if name in item]
            if told:
                cluster.enumerator.epoch_read(told)

    def close(self) -> None:
        """Disconnect from all clusters."""
        for cluster in self._clusters.values():
            cluster.enumerator.close()
        self._source.service.close()


class DynamicReader(SourceReader):
    """Reads partitions of several clusters, with one consumer for each."""

    gives_away = True

    def __init__(self, source: DynamicInput) -> None:
        """Connect to a cluster on the first read from it."""
        self._source = source
        self._readers: dict[str, KafkaReader] = {}
        self._removed: set[tuple[str, str]] = set()

    def open(self, runtime_context: RuntimeContext) -> None:
        """Keep the context for the readers."""
        self._context = runtime_context

    def read(
        self, split: DynamicSplit | RemovedSplit, fetch: Fetch
    ) -> Generator[list[Any] | Timestamped | SourceWatermark, None, bool]:
        """Yield the records of a partition until its topic or cluster is removed."""
        if isinstance(split, RemovedSplit):
            self._removed |= split.removed
            return True
        if (split.cluster, split.split.topic) in self._removed:
            return True
        reader = self._readers.get(split.cluster)
        if reader is None:
            properties = self._source.properties_of(split.cluster, split.properties)
            if properties is None:
                return True
            reader = KafkaReader(self._source.of(properties))
            reader.open(self._context)
            self._readers[split.cluster] = reader
        try:
            return (yield from reader.read(split.split, fetch))
        except FlintstreamError as error:
            add_note(error, f"in the cluster '{split.cluster}'")
            raise

    def set_aside(self, split: DynamicSplit | RemovedSplit) -> None:
        """Set the split aside in the reader of its cluster."""
        if isinstance(split, DynamicSplit) and split.cluster in self._readers:
            self._readers[split.cluster].set_aside(split.split)

    def progress(self, splits: Sequence[Any]) -> object | None:
        """Return the read offsets of each cluster, or None if there are none to commit."""
        told = {}
        for name, reader in self._readers.items():
            own = reader.progress([s.split for s in splits if isinstance(s, DynamicSplit) and s.cluster == name])
            if own is not None:
                told[name] = own
        return told or None

    def pending_records(self, splits: Sequence[Any]) -> int | None:
        """Return what the readers of all clusters know together."""
        told = [
            reader.pending_records([s.split for s in splits if isinstance(s, DynamicSplit) and s.cluster == name])
            for name, reader in self._readers.items()
        ]
        known = [pending for pending in told if pending is not None]
        return sum(known) if known else None

    def close(self) -> None:
        """Disconnect."""
        for reader in self._readers.values():
            reader.close()
