"""Opens a savepoint or checkpoint and shows what is in it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint import codec
from flintstream.coordinator import recovery
from flintstream.errors import CheckpointError
from flintstream.runtime.keys import freeze_key, key_group, subtask_of_key_group
from flintstream.savepoint.entries import (
    OperatorSummary,
    OperatorValue,
    StateSummary,
    entries_of,
    timers_of,
)
from flintstream.savepoint.subtask_files import SubtaskFiles, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flintstream.checkpoint.metadata import ChainState, Metadata, OperatorInfo
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.coordinator.checkpoints import Completed
    from flintstream.savepoint.entries import (
        StateEntry,
        Timer,
    )
    from flintstream.state.backend import Change, TableInfo

_ANY = object()


class Savepoint:
    """A savepoint or checkpoint, opened for reading. Nothing in it is ever changed.

    It does not matter which backend has written it, and whether incrementally or as a changelog: what is shown is what
    a job would start with. Only one piece of state at a time is in memory.
    """

    def __init__(self, completed: Completed, *, allow_pickle: bool = False) -> None:
        """See :meth:`load`."""
        self._completed = completed
        self.allow_pickle = allow_pickle

    @classmethod
    def load(cls, path: str, *, allow_pickle: bool = False) -> Savepoint:
        """Open the savepoint or checkpoint at ``path``.

        Args:
            path: its directory, on this machine or as a URI, or the file ``_metadata`` in it.
            allow_pickle: Whether objects of your own classes are unpickled, which runs code that the savepoint names.
                If not, such a value is an ``Opaque``, the bytes it was pickled to.

        Raises:
            CheckpointError: There is none.
            CorruptCheckpointError: A file is damaged; the message names it. Files of state are looked at when they are
                read.
        """
        return cls(recovery.load(path), allow_pickle=allow_pickle)

    @property
    def where(self) -> str:
        """Its place."""
        return self._completed.where

    @property
    def metadata(self) -> Metadata:
        """What ``_metadata`` says: the job, when it was taken, the files it consists of."""
        return self._completed.metadata

    # -- what there is ---------------------------------------------------------------------------------------------

    def operators(self) -> list[OperatorSummary]:
        """Return the operators, each with its states by name; all state is read to count it."""
        return [self._summary(chain, info) for chain in self.metadata.chains for info in chain.operators]

    def operator(self, uid: str) -> OperatorSummary:
        """Return one operator, with its states.

        Raises:
            CheckpointError: There is none of this uid.
        """
        return self._summary(*self.find(uid))

    def find(self, uid: str) -> tuple[ChainState, OperatorInfo]:
        """Return where an operator is in the metadata.

        Raises:
            CheckpointError: There is none of this uid.
        """
        found = self.metadata.operators().get(uid)
        if found is None:
            known = ", ".join(f"'{uid}' ({info.name})" for uid, (_, info) in self.metadata.operators().items())
            raise CheckpointError(f"{self.where} has no operator of uid '{uid}'; it has {known or 'none'}")
        return self.metadata.chains[found[0]], found[1]

    def _summary(self, chain: ChainState, info: OperatorInfo) -> OperatorSummary:
        tables: dict[tuple[str, bool], TableInfo] = {}
        entries: dict[tuple[str, bool], int] = {}
        sizes: dict[tuple[str, bool], int] = {}
        timers = timer_bytes = 0
        for files in self.subtasks(chain) if info.keyed else ():
            for change in files.states(info.uid):
                place = change.table.name, change.table.namespaced
                tables[place] = change.table
                entries[place] = entries.get(place, 0) + len(change.keys)
                sizes[place] = sizes.get(place, 0) + _size(change)
            for change in files.timers(info.uid):
                timers += len(change.keys)
                timer_bytes += _size(change)
        states = tuple(
            StateSummary(t.name, t.kind, t.type, t.ttl, t.namespaced, entries[place], sizes[place])
            for place, t in sorted(tables.items())
        )
        total = sum(sizes.values()) + timer_bytes
        return OperatorSummary(**dataclasses.asdict(info), states=states, timers=timers, bytes=total)

    # -- what is in it ---------------------------------------------------------------------------------------------

    def read(self, uid: str, name: str, *, key: Any = _ANY) -> Iterator[StateEntry]:
        """Return the entries of a keyed state, of all subtasks one after the other, in no particular order.

        Args:
            uid: the operator's.
            name: the state's. Where an operator keeps a state of that name both per key and per window, the entries of
                both come.
            key: Return only what this key has; reads only the files of the subtask whose key it is.

        Raises:
            CheckpointError: There is no such operator or state.
        """
        chain, info = self.find(uid)
        subtasks = self.subtasks(chain)
        if key is _ANY:
            return self._read(subtasks, info, name)
        frozen = freeze_key(key)
        group = key_group(frozen, info.max_parallelism)
        owner = subtasks[subtask_of_key_group(group, len(subtasks), info.max_parallelism)]
        entries = self._read([owner], info, name)
        return (entry for entry in entries if freeze_key(entry.key) == frozen)

    def _read(self, subtasks: Iterable[SubtaskFiles], info: OperatorInfo, name: str) -> Iterator[StateEntry]:
        names, found = set(), False

        def chosen(table: TableInfo) -> bool:
            names.add(table.name)
            return table.name == name

        for files in subtasks:
            for change in files.states(info.uid, chosen):
                found = True
                yield from entries_of(change)
        if not found and name not in names:
            self.state(info.uid, name)

    def entries(self, uid: str) -> Iterator[tuple[str, StateEntry]]:
        """Return the entries of all keyed states of an operator, each with the name of its state.

        Raises:
            CheckpointError: There is no such operator.
        """
        chain, _ = self.find(uid)
        for files in self.subtasks(chain):
            for change in files.states(uid):
                for entry in entries_of(change):
                    yield change.table.name, entry

    def state(self, uid: str, name: str) -> StateSummary:
        """Return what is known of one state.

        Raises:
            CheckpointError: There is no such operator or state.
        """
        operator = self.operator(uid)
        for state in operator.states:
            if state.name == name:
                return state
        known = ", ".join(f"'{state.name}' ({state.kind})" for state in operator.states)
        raise CheckpointError(
            f"operator '{operator.name}' (uid {uid}) of {self.where} has no state '{name}'; it has {known or 'none'}"
        )

    def timers(self, uid: str) -> Iterator[Timer]:
        """Return the timers of an operator, those of a subtask in the order of their registration.

        Raises:
            CheckpointError: There is no such operator.
        """
        subtasks = self.subtasks(self.find(uid)[0])
        return (timer for files in subtasks for change in files.timers(uid) for timer in timers_of(change))

    def values(self, uid: str) -> list[OperatorValue]:
        """Return what an operator holds beside keyed state: positions of sources, broadcast state, watermarks.

        Raises:
            CheckpointError: There is no such operator.
        """
        values = [
            OperatorValue(name, subtask, value)
            for subtask, files in enumerate(self.subtasks(self.find(uid)[0]))
            for name, value in files.values(uid).items()
        ]
        with naming("the metadata"):
            if uid in self.metadata.enumerators:
                state = codec.decode_one(self.metadata.enumerators[uid], allow_pickle=self.allow_pickle)
                values.append(OperatorValue("enumerator", None, state))
            if uid in self.metadata.committables:
                items = codec.decode(self.metadata.committables[uid], allow_pickle=self.allow_pickle)
                values.append(OperatorValue("committables", None, items))
        return values

    def subtasks(self, chain: ChainState) -> list[SubtaskFiles]:
        """Return the files of each subtask of operators that ran together."""
        return [SubtaskFiles(self._completed.store, pieces, self.allow_pickle) for pieces in chain.subtasks]

    # -- as a DataFrame --------------------------------------------------------------------------------------------

    def to_dataframe(
        self,
        uid: str | None = None,
        state: str | None = None,
        *,
        spark: Any = None,
        key_type: TypeInformation | None = None,
        value_type: TypeInformation | None = None,
    ) -> Any:
        """Return a Spark DataFrame that reads the state in parallel, one task per subtask.

        Without a state the columns are ``operator_uid``, ``operator``, ``state``, ``kind``, ``key``, ``namespace``,
        ``map_key``, ``value`` (these four as JSON) and ``last_access_ms``. Of one state they are ``key``,
        ``namespace``, ``map_key``, ``value`` and ``last_access_ms``, as far as the state has them, with the types of
        Spark that the declared types correspond to.

        Args:
            uid: Only of this operator.
            state: Only this state of it.
            spark: The session; by default the active one, else a new one.
            key_type: The type of the keys, as a savepoint does not tell; by default, that of the first keys there are.
                What has no type of Spark is JSON.
            value_type: The type of the state where the program declared none: of a list state ``Types.LIST(...)``, of
                a map state ``Types.MAP(...)``.

        Raises:
            CheckpointError: There is no such operator or state.
        """
        from flintstream.savepoint import frames  # noqa: PLC0415 - needs Spark

        if state is None:
            return frames.generic_frame(self, uid, spark)
        if uid is None:
            raise ValueError(f"which operator has the state '{state}'? give its uid, too")
        return frames.typed_frame(self, uid, state, key_type, value_type, spark)


def _size(change: Change) -> int:
    return len(codec.encode(change.keys)) + len(codec.encode(change.values))
