"""The committer of Kafka's sink, which writes what a checkpoint contains.

Small epochs of all subtasks go into one transaction of the driver. Of a large one, a task writes the part of each
subtask, with a producer whose ``transactional.id`` belongs to this subtask. The writer decides which it is and stores
the decision in the committable. So whatever commits the same records again, at any later time and at any parallelism,
uses the same id, finds the mark of an earlier commit under it, and ends the transaction of a commit that still runs.

A task may be lost and still be alive, even when another driver has restored the job. Therefore each driver takes a
*generation*, a number that it writes under the id of the sink. The marks of the subtasks name the generation that wrote
last, and a task of an older one writes nothing.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.connectors.kafka.staging import Prepared
from flintstream.connectors.kafka.transactions import FencedError, Transactions, fenced_error
from flintstream.connectors.sink import Committer
from flintstream.errors import JobCancelledError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_log = logging.getLogger(__name__)

TRANSACTION_BYTES = 64 << 20
"""Minimum size of a transaction, if there is that much to write. An epoch is never divided."""

PRODUCERS_KEPT = 4
"""How many producers a process keeps for later commits: starting one takes up to half a second."""

LONGEST_REASON = 500
"""Characters of an error of the engine, which may contain stack traces."""

_kept: OrderedDict[tuple[str, str], Transactions] = OrderedDict()
"""Committer and transactional id -> a producer that this process has used for it, the last used one last."""


class InterferenceError(KafkaConnectorError):
    """Another task has used the transactional id in the meantime."""


@dataclass
class Owner:
    """What a driver knows of a sink's ids."""

    home: str
    """The topic whose offsets hold the generations."""
    generation: int
    ids: int
    """How many subtasks have an id of their own."""
    fenced: int = 0
    """How many of these ids no task of an earlier driver can use any more."""
    claimed: bool = False
    """Whether the generation is written under the id of the sink."""


@dataclass(frozen=True)
class SubtaskCommit:
    """Writes the records of one subtask, in any process."""

    committer: str
    properties: Mapping[str, str] = field(repr=False)  # may contain passwords
    prefix: str
    subtask: int
    home: str
    generation: int
    prepared: tuple[tuple[Any, ...], ...] = field(repr=False)
    """Empty if the id is only taken over."""

    @property
    def name(self) -> str:
        """The ``transactional.id``."""
        return f"{self.prefix}/{self.subtask}"

    def __call__(self) -> KafkaConnectorError | None:
        """Write what is not written yet; return the error if that fails."""
        prepared = [Prepared(*item) for item in self.prepared]
        try:
            try:
                self._write(prepared)
            except InterferenceError:  # the producer may be an old one: this task has run in another process since
                self._drop()
                self._write(prepared)
        except KafkaConnectorError as error:
            self._drop()
            # Without its cause, whose class may not be picklable.
            return type(error)(*error.args)
        for item in prepared:
            item.delete()
        return None

    def _write(self, prepared: Sequence[Prepared]) -> None:
        transactions = self._transactions()
        before = transactions.mark(self.home).generation
        if before > self.generation:
            raise fenced_error(self.prefix)
        left = [item for item in prepared if not transactions.is_written(item)]
        try:
            for several in _portions(left):
                transactions.write(several, self.home, self.generation)
            if not left and before < self.generation:
                transactions.claim(self.home, self.generation)
        except FencedError as error:
            # By another run of this task, or by a newer driver: then the next attempt finds its generation.
            raise InterferenceError(f"another task writes to Kafka under the id '{self.name}'") from error

    def _transactions(self) -> Transactions:
        key = (self.committer, self.name)
        found = _kept.get(key)
        if found is None:
            for other in [item for item in _kept if item[1] == self.name and item[0] != self.committer]:
                _kept.pop(other).close()  # of an earlier driver
            while len(_kept) >= PRODUCERS_KEPT:
                _kept.popitem(last=False)[1].close()
            found = _kept[key] = Transactions(self.properties, self.name)
        _kept.move_to_end(key)
        return found

    def _drop(self) -> None:
        transactions = _kept.pop((self.committer, self.name), None)
        if transactions is not None:
            transactions.close()


class KafkaCommitter(Committer):
    """Writes the records that a checkpoint contains."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        """Connect on the first commit, not here."""
        self._properties = properties
        self._id = uuid4().hex
        self._open: dict[str, Transactions] = {}
        self._owners: dict[str, Owner] = {}
        self._fenced: FencedError | None = None

    def commit(self, committables: Sequence[Any]) -> Sequence[Any]:
        """Write what is not written yet; return the committables that could not be written."""
        if self._fenced is not None:
            raise self._fenced
        left: list[Any] = []
        by_name: dict[str, list[Prepared]] = {}
        for committable in committables:
            prepared = Prepared(*committable)
            by_name.setdefault(prepared.name, []).append(prepared)
        for name, mine in by_name.items():
            segments = list(_segments(mine))
            # What follows a segment that fails waits, so that the records of a subtask stay in their order.
            while segments and self._try(name, segments[0]):
                del segments[0]
            left += chain.from_iterable(segments)
        return list(map(tuple, left))

    def _try(self, name: str, segment: Sequence[Prepared]) -> bool:
        try:
            self._commit(name, segment)
        except FencedError as error:
            self._fenced = error
            raise
        except KafkaConnectorError as error:
            _log.warning("%s", error)
            self.failure = error
            self._drop(name)
            return False
        return True

    def _commit(self, name: str, segment: Sequence[Prepared]) -> None:
        transactions = self._open.get(name)
        if transactions is None:
            transactions = self._open[name] = Transactions(self._properties, name)
        ids = max(item.ids for item in segment)
        owner = self._owner(name, transactions, segment[0].topic)
        if ids or owner.fenced < owner.ids:
            self._take_over(name, transactions, owner, ids)
        shared = [item for item in segment if not item.alone]
        for several in _portions([item for item in shared if not transactions.is_written(item)]):
            transactions.write(several)
        for item in shared:
            item.delete()
        by_subtask: dict[int, list[Prepared]] = {}
        for item in segment:
            if item.alone:
                by_subtask.setdefault(item.subtask, []).append(item)
        self._in_tasks(name, owner, by_subtask)

    def _owner(self, name: str, transactions: Transactions, topic: str) -> Owner:
        owner = self._owners.get(name)
        if owner is None or not owner.claimed:
            home = transactions.home(topic)
            mark = transactions.mark(home)
            owner = self._owners[name] = Owner(home, mark.generation + 1, mark.ids)
        elif owner.claimed and transactions.mark(owner.home).generation > owner.generation:
            raise fenced_error(name)
        return owner

    def _take_over(self, name: str, transactions: Transactions, owner: Owner, ids: int) -> None:
        """Make sure that no task of an earlier driver writes any more, and that no later driver has taken over."""
        known = owner.ids
        transactions.claim(owner.home, owner.generation, max(known, ids))
        owner.claimed, owner.ids = True, max(known, ids)
        if owner.fenced < known:
            self._in_tasks(name, owner, {subtask: [] for subtask in range(owner.fenced, known)})
        owner.fenced = owner.ids

    def _in_tasks(self, name: str, owner: Owner, by_subtask: Mapping[int, Sequence[Prepared]]) -> None:
        """Write the records of each subtask in a task.

        Raises:
            FencedError: A newer driver has taken over.
            KafkaConnectorError: A task has failed.
        """
        commits = [
            SubtaskCommit(
                self._id, self._properties, name, subtask, owner.home, owner.generation, tuple(map(tuple, mine))
            )
            for subtask, mine in sorted(by_subtask.items())
        ]
        if not commits:
            return
        try:
            errors = self.run_tasks(commits)
        except JobCancelledError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:LONGEST_REASON]
            raise KafkaConnectorError(f"tasks that write to Kafka for '{name}' have failed: {reason}") from error
        failed = [error for error in errors if error is not None]
        if failed:
            raise min(failed, key=lambda error: not isinstance(error, FencedError))

    def _drop(self, name: str) -> None:
        transactions = self._open.pop(name, None)
        if transactions is not None:
            transactions.close()

    def close(self) -> None:
        """Disconnect."""
        for name in list(self._open):
            self._drop(name)
        for key in [key for key in _kept if key[0] == self._id]:  # tasks that ran in this process
            _kept.pop(key).close()


def _segments(prepared: Sequence[Prepared]) -> Iterator[list[Prepared]]:
    """Divide at epoch boundaries, so that the records of a subtask are all written in one way within a segment."""
    ways: dict[int, bool] = {}
    segment: list[Prepared] = []
    for _, epoch in groupby(prepared, lambda item: (item.run, item.number)):
        several = list(epoch)
        if any(ways.get(item.subtask, item.alone) != item.alone for item in several):
            yield segment
            ways, segment = {}, []
        ways.update((item.subtask, item.alone) for item in several)
        segment += several
    if segment:
        yield segment


def _portions(prepared: Sequence[Prepared]) -> Iterator[list[Prepared]]:
    """Divide into transactions at epoch boundaries: an epoch must be written as a whole."""
    portion: list[Prepared] = []
    for _, epoch in groupby(prepared, lambda item: (item.run, item.number)):
        portion.extend(epoch)
        if sum(item.size for item in portion) >= TRANSACTION_BYTES:
            yield portion
            portion = []
    if portion:
        yield portion
