"""Kafka source enumerator: the driver finds the partitions, and the tasks read them."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.client import KafkaConnectorError, close_quietly, consumer, library, passes
from flintstream.connectors.kafka.input import LATER
from flintstream.connectors.kafka.offsets import LATEST, at_times
from flintstream.connectors.kafka.reader import KafkaSplit
from flintstream.connectors.source import SplitEnumerator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.kafka.input import KafkaInput
    from flintstream.connectors.kafka.offsets import Partition

_log = logging.getLogger(__name__)

COMMIT_SECONDS = 5.0
"""How long the end of a job may wait for its last offset commit."""


class KafkaEnumerator(SplitEnumerator):
    """Finds partitions, and commits the job's offsets to the group."""

    replaces_progress = True

    def __init__(self, source: KafkaInput) -> None:
        """Connect on first use, not here."""
        self._source = source
        self._known: set[Partition] = set()
        self._begun = False
        self._next_look: float | None = time.monotonic()
        self._client: Any = None
        self._notes_end = False
        self._ends: dict[Partition, int] = {}
        """Where the partitions ended when the job started, if it runs until it has caught up."""
        self._positions: dict[Partition, int] = {}
        self._untold: dict[Partition, int] = {}
        """Offsets that remain to be committed to the group."""
        self._on_the_way: dict[Partition, int] = {}
        self._telling = False
        self._next_telling = time.monotonic()
        """When to commit offsets next, without a checkpoint."""

    def _consumer(self) -> Any:
        if self._client is None:
            prefix = self._source.client_id_prefix
            more: dict[str, Any] = {"client.id": f"{prefix}-enumerator"} if prefix else {}
            self._client = consumer(self._source.properties, **more, on_commit=self._on_commit)
        return self._client

    def discover(self) -> Sequence[KafkaSplit]:
        """Return new partitions with their start and stop offsets."""
        if self._next_look is None or time.monotonic() < self._next_look:
            return []
        interval = self._source.discovery_ms
        try:
            splits = self._look()
        except KafkaConnectorError:
            if not self._begun or interval < 0:
                raise
            _log.warning("could not look for new partitions; will retry", exc_info=True)
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
        if self._notes_end:
            self._ends = at_times(client, sorted(self._known), LATEST)
            self._notes_end = False
        splits = [KafkaSplit(f"{t}-{p}", t, p, start[t, p], stop.get((t, p))) for t, p in new]
        return [split for split in splits if split.stop is None or split.position < split.stop]

    def note_end(self) -> None:
        """Note the ends of the partitions when they are found."""
        self._notes_end = True

    def has_reached_end(self) -> bool:
        """Return whether all partitions were read up to these ends."""
        return not self._notes_end and all(self._positions.get(where, -1) >= end for where, end in self._ends.items())

    def epoch_progressed(self, progress: Sequence[object]) -> None:
        """Note how far the readers have come."""
        for item in progress:
            if isinstance(item, dict):
                self._positions.update(item)

    def is_finished(self) -> bool:
        """Tell whether no further partitions will appear."""
        return self._next_look is None

    def snapshot(self) -> object:
        """Return the known partitions."""
        return (sorted(self._known), self._begun)

    def restore(self, state: Any) -> None:
        """Restore the known partitions."""
        known, self._begun = state
        self._known = {tuple(partition) for partition in known}

    def checkpoint_completed(self, progress: Sequence[Any]) -> None:
        """Commit the offsets. A failure is only a warning, as nothing depends on them."""
        if self._source.commits_offsets:
            self._note_untold(progress)
            self._tell()

    def epoch_read(self, progress: Sequence[Any]) -> None:
        """Commit the offsets periodically, if the properties ask for commits without checkpoints."""
        interval = self._source.auto_commit_ms
        if interval is None:
            return
        self._note_untold(progress)
        if time.monotonic() >= self._next_telling:
            self._next_telling = time.monotonic() + interval / 1000
            self._tell()

    def _note_untold(self, progress: Sequence[object]) -> None:
        for item in (self._positions, *progress):
            if isinstance(item, dict):
                self._untold.update(item)

    def _tell(self) -> None:
        """Commit pending offsets, but never two commits at a time: their order is not guaranteed."""
        client = self._consumer()
        try:
            client.poll(0)  # runs the callback of the last commit
            if self._telling or not self._untold:
                return
            places = [library().TopicPartition(*partition, offset) for partition, offset in self._untold.items()]
            client.commit(offsets=places, asynchronous=True)
        except library().KafkaException:
            _log.warning("could not commit offsets to the group", exc_info=True)
        else:
            self._telling = True
        self._on_the_way, self._untold = self._untold, {}

    def _on_commit(self, error: Any, _offsets: Any) -> None:
        self._telling = False
        if error is None:
            return
        if passes(error):  # the client may still be looking for the group's coordinator
            self._untold = {**self._on_the_way, **self._untold}
        else:
            _log.warning("could not commit offsets to the group: %s", error.str())

    def close(self) -> None:
        """Disconnect after committing the last offsets."""
        if self._client is None:
            return
        until = time.monotonic() + COMMIT_SECONDS
        while (self._telling or self._untold) and time.monotonic() < until:
            self._tell()
            self._client.poll(0.05)
        close_quietly(self._client)
