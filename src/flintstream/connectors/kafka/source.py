"""Reads topics: partitions are found in the driver and read in the tasks."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.client import KafkaConnectorError, close_quietly, consumer, library, passes
from flintstream.connectors.kafka.input import LATER
from flintstream.connectors.kafka.reader import KafkaSplit
from flintstream.connectors.source import SplitEnumerator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.kafka.input import KafkaInput
    from flintstream.connectors.kafka.offsets import Partition

_log = logging.getLogger(__name__)

COMMIT_SECONDS = 5.0
"""How long the end of a job may wait until its last offsets are committed."""


class KafkaEnumerator(SplitEnumerator):
    """Finds partitions, and tells the group how far the job has come."""

    def __init__(self, source: KafkaInput) -> None:
        """Connect when there is something to ask."""
        self._source = source
        self._known: set[Partition] = set()
        self._begun = False
        self._next_look: float | None = time.monotonic()
        self._client: Any = None
        self._untold: dict[Partition, int] = {}
        """Offsets that the group is to be told."""
        self._on_the_way: dict[Partition, int] = {}
        self._telling = False
        self._next_telling = time.monotonic()
        """When the group is told without a checkpoint."""

    def _consumer(self) -> Any:
        if self._client is None:
            prefix = self._source.client_id_prefix
            more: dict[str, Any] = {"client.id": f"{prefix}-enumerator"} if prefix else {}
            self._client = consumer(self._source.properties, **more, on_commit=self._told)
        return self._client

    def discover(self) -> Sequence[KafkaSplit]:
        """Return the partitions that were not there before, with the offsets that they are read from and to."""
        if self._next_look is None or time.monotonic() < self._next_look:
            return []
        interval = self._source.discovery_ms
        try:
            splits = self._look()
        except KafkaConnectorError:
            if not self._begun or interval < 0:
                raise
            _log.warning("could not look for new partitions", exc_info=True)
            splits = []
        self._next_look = time.monotonic() + interval / 1000 if interval >= 0 else None
        return splits

    def _look(self) -> list[KafkaSplit]:
        client, source = self._consumer(), self._source
        new = [partition for partition in source.subscription.find(client) if partition not in self._known]
        start = (LATER if self._begun else source.start).find(client, new)
        stop = source.stop.find(client, new) if source.stop is not None else {}
        self._known.update(new)
        self._begun = True
        splits = [KafkaSplit(f"{t}-{p}", t, p, start[t, p], stop.get((t, p))) for t, p in new]
        return [split for split in splits if split.stop is None or split.position < split.stop]

    def is_finished(self) -> bool:
        """Tell whether all partitions were found that will ever be read."""
        return self._next_look is None

    def snapshot(self) -> object:
        """Return the partitions that were found."""
        return (sorted(self._known), self._begun)

    def restore(self, state: Any) -> None:
        """Take back the partitions that were found."""
        known, self._begun = state
        self._known = {tuple(partition) for partition in known}

    def checkpoint_completed(self, progress: Sequence[Any]) -> None:
        """Commit the offsets; nothing depends on them, so that a failure is no more than a warning."""
        if self._source.commits_offsets:
            for each in progress:
                self._untold.update(each)
            self._tell()

    def epoch_read(self, progress: Sequence[Any]) -> None:
        """Commit the offsets from time to time, if the properties have that done without checkpoints."""
        interval = self._source.auto_commit_ms
        if interval is None:
            return
        for each in progress:
            self._untold.update(each)
        if time.monotonic() >= self._next_telling:
            self._next_telling = time.monotonic() + interval / 1000
            self._tell()

    def _tell(self) -> None:
        """Commit what is to be committed, after what is on its way: the order of several is not kept."""
        client = self._consumer()
        try:
            client.poll(0)  # has us told what became of the last commit
            if self._telling or not self._untold:
                return
            places = [library().TopicPartition(*partition, offset) for partition, offset in self._untold.items()]
            client.commit(offsets=places, asynchronous=True)
        except library().KafkaException:
            _log.warning("could not commit offsets to the group", exc_info=True)
        else:
            self._telling = True
        self._on_the_way, self._untold = self._untold, {}

    def _told(self, error: Any, _offsets: Any) -> None:
        self._telling = False
        if error is None:
            return
        if passes(error):  # the group's coordinator may still be looked for
            self._untold = {**self._on_the_way, **self._untold}
        else:
            _log.warning("could not commit offsets to the group: %s", error.str())

    def close(self) -> None:
        """Disconnect, when the last offsets are committed."""
        if self._client is None:
            return
        until = time.monotonic() + COMMIT_SECONDS
        while (self._telling or self._untold) and time.monotonic() < until:
            self._tell()
            self._client.poll(0.05)
        close_quietly(self._client)
