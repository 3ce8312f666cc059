"""A reader of savepoints and checkpoints."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint import codec
from flintstream.checkpoint.metadata import METADATA
from flintstream.coordinator.checkpointing import recovery
from flintstream.errors import CheckpointError
from flintstream.runtime.keys import freeze_key, key_group, subtask_of_key_group
from flintstream.savepoint import records as _records  # noqa: F401 - registers them
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
    from flintstream.coordinator.checkpointing.completed import Completed
    from flintstream.savepoint.entries import (
        StateEntry,
        Timer,
    )
    from flintstream.state.backend import Change, TableInfo

_ANY = object()


class Savepoint:
    """A savepoint or checkpoint, opened for reading.

    The reader shows the state that a job would start with, whichever backend wrote it, also if it is incremental or a
    changelog. Only one piece of state at a time is in memory.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import Types
    >>> from flintstream.datastream.state import ValueStateDescriptor
    >>> from flintstream.savepoint import SavepointWriter
    >>> visits = ValueStateDescriptor("visits", Types.LONG())
    >>> with TemporaryDirectory() as directory:
    ...     writer = SavepointWriter.new(max_parallelism=128).with_state("shop", visits, [("ann", 3), ("bob", 1)])
    ...     savepoint = Savepoint.load(writer.write(f"{directory}/first"))
    ...     print([operator.uid for operator in savepoint.operators()], savepoint.operator("shop").keyed)
    ...     print(savepoint.state("shop", "visits").entries)
    ...     print(sorted((entry.key, entry.value) for entry in savepoint.read("shop", "visits")))
    ...     print([entry.value for entry in savepoint.read("shop", "visits", key="ann")])
    ...     print({name for name, entry in savepoint.entries("shop")})
    ...     print(list(savepoint.timers("shop")), savepoint.values("shop"))
    ...     chain, info = savepoint.find("shop")
    ...     print(len(savepoint.subtasks(chain)), info.uid)
    ...     print(savepoint.where == f"{directory}/first", len(savepoint.metadata.chains))
    ['shop'] True
    2
    [('ann', 3), ('bob', 1)]
    [3]
    {'visits'}
    [] []
    1 shop
    True 1
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
            allow_pickle: whether to unpickle objects of your own classes, which runs code that the savepoint names. If
                not, such a value is an ``Opaque`` with the pickled bytes.

        Raises:
            CheckpointError: There is no savepoint or checkpoint at ``path``.
            CorruptCheckpointError: A file is damaged. The message names it. State files are checked when they are read.
        """
        return cls(recovery.load(path), allow_pickle=allow_pickle)

    @property
    def where(self) -> str:
        """Its path or URI."""
        return self._completed.where

    @property
    def metadata(self) -> Metadata:
        """The content of ``_metadata``: the job, the time of creation, the files."""
        return self._completed.metadata

    def dispose(self) -> list[str]:
        """Delete the files of the savepoint, and its directory if nothing else is in it.

        No job can start from it afterwards. A checkpoint is refused: others may share its files, and its job deletes
        it.

        Returns:
            The names of other files in the directory, which remain.

        Raises:
            CheckpointError: It is a checkpoint, or a file cannot be deleted.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.common import Types
        >>> from flintstream.datastream.state import ValueStateDescriptor
        >>> from flintstream.savepoint import SavepointWriter
        >>> visits = ValueStateDescriptor("visits", Types.LONG())
        >>> with TemporaryDirectory() as directory:
        ...     writer = SavepointWriter.new(max_parallelism=128).with_state("shop", visits, [("ann", 3)])
        ...     written = writer.write(f"{directory}/first")
        ...     print(Savepoint.load(written).dispose(), Path(written).exists())
        [] False
        """
        metadata, store = self.metadata, self._completed.store
        if metadata.purpose != "savepoint" or metadata.depth or store is None:
            raise CheckpointError(
                f"{self.where} is a checkpoint of the job '{metadata.job_name}', which may share files with others: "
                "the job deletes it"
            )
        try:
            store.delete(METADATA)  # first, so that no job starts from the rest if this is interrupted
            # Metadata by another user may name what a linked directory leads to, and a listing has no such file.
            for path in metadata.paths().intersection(store.list("")):
                store.delete(path)
            others = store.list("")
            if not others:
                store.delete_tree("")
        except OSError as error:
            raise CheckpointError(f"cannot delete {self.where}: {error}") from error
        return others

    # -- operators -------------------------------------------------------------------------------------------------

    def operators(self) -> list[OperatorSummary]:
        """Return the operators, each with its states by name. This reads all state to count it."""
        return [self._summary(chain, info) for chain in self.metadata.chains for info in chain.operators]

    def operator(self, uid: str) -> OperatorSummary:
        """Return one operator, with its states.

        Raises:
            CheckpointError: No operator has this uid.
        """
        return self._summary(*self.find(uid))

    def find(self, uid: str) -> tuple[ChainState, OperatorInfo]:
        """Return the chain of an operator and its entry in the metadata.

        Raises:
            CheckpointError: No operator has this uid.
        """
        found = self.metadata.operators().get(uid)
        if found is None:
            known = ", ".join(f"'{uid}' ({info.name})" for uid, (_, info) in self.metadata.operators().items())
            raise CheckpointError(f"{self.where} has no operator with the uid '{uid}'; it has {known or 'none'}")
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

    # -- contents --------------------------------------------------------------------------------------------------

    def read(self, uid: str, name: str, *, key: Any = _ANY) -> Iterator[StateEntry]:
        """Return the entries of a keyed state of all subtasks, in no particular order.

        Args:
            uid: the uid of the operator.
            name: the name of the state. If the operator has a state with this name both per key and per window, the
                result has the entries of both.
            key: return only the entries of this key, and read only the files of its subtask.

        Raises:
            CheckpointError: The operator or state does not exist.
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

        def is_chosen(table: TableInfo) -> bool:
            names.add(table.name)
            return table.name == name

        for files in subtasks:
            for change in files.states(info.uid, is_chosen):
                found = True
                yield from entries_of(change)
        if not found and name not in names:
            self.state(info.uid, name)

    def entries(self, uid: str) -> Iterator[tuple[str, StateEntry]]:
        """Return the entries of all keyed states of an operator, each with the name of its state.

        Raises:
            CheckpointError: The operator does not exist.
        """
        chain, _ = self.find(uid)
        for files in self.subtasks(chain):
            for change in files.states(uid):
                for entry in entries_of(change):
                    yield change.table.name, entry

    def state(self, uid: str, name: str) -> StateSummary:
        """Return the description of one state.

        Raises:
            CheckpointError: The operator or state does not exist.
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
        """Return the timers of an operator. Those of a subtask are in the order of their registration.

        Raises:
            CheckpointError: The operator does not exist.
        """
        subtasks = self.subtasks(self.find(uid)[0])
        return (timer for files in subtasks for change in files.timers(uid) for timer in timers_of(change))

    def values(self, uid: str) -> list[OperatorValue]:
        """Return the state of an operator other than keyed state: positions of sources, broadcast state, watermarks.

        Raises:
            CheckpointError: The operator does not exist.
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
        """Return the files of each subtask of a chain of operators."""
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
        ``map_key``, ``value`` (these four as JSON) and ``last_access_ms``. For one state they are ``key``,
        ``namespace``, ``map_key``, ``value`` and ``last_access_ms``, if the state has them, with the Spark types that
        correspond to the declared types.

        Args:
            uid: read only this operator.
            state: read only this state of the operator.
            spark: the session; by default the active one, or else a new one.
            key_type: the type of the keys, which a savepoint does not record; by default the type of the first keys.
                Values without a Spark type become JSON.
            value_type: the type of the state if the program declared none: ``Types.LIST(...)`` for a list state,
                ``Types.MAP(...)`` for a map state.

        Raises:
            CheckpointError: The operator or state does not exist.

        >>> from pyspark.sql import SparkSession
        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.common import Types
        >>> from flintstream.datastream.state import ValueStateDescriptor
        >>> from flintstream.savepoint import SavepointWriter
        >>> spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        >>> visits = ValueStateDescriptor("visits", Types.LONG())
        >>> with TemporaryDirectory() as directory:
        ...     writer = SavepointWriter.new(max_parallelism=128).with_state("shop", visits, [("ann", 3)])
        ...     savepoint = Savepoint.load(writer.write(f"{directory}/first"))
        ...     frame = savepoint.to_dataframe("shop", "visits", key_type=Types.STRING(), value_type=Types.LONG())
        ...     frame.select("key", "value").collect()
        [Row(key='ann', value=3)]
        """
        from flintstream.savepoint import frames

        if state is None:
            return frames.generic_frame(self, uid, spark)
        if uid is None:
            raise ValueError(f"the state '{state}' needs an operator: pass its uid as well")
        return frames.typed_frame(self, uid, state, key_type, value_type, spark)


def _size(change: Change) -> int:
    return len(codec.encode(change.keys)) + len(codec.encode(change.values))
