"""A writer of savepoints: changed copies of other savepoints, or new ones from data."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import flintstream
from flintstream.checkpoint.metadata import METADATA, ChainState, Metadata, OperatorInfo, to_bytes
from flintstream.errors import CheckpointError
from flintstream.savepoint.reader import Savepoint
from flintstream.savepoint.rewrite import NewState, OperatorEdit, Rewrite
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.checkpoint.metadata import StatePiece
    from flintstream.contracts.state import StateDescriptor
    from flintstream.savepoint.entries import StateEntry
    from flintstream.storage.file_store import FileStore


@dataclass
class _Operator:
    """An operator of the new savepoint."""

    info: OperatorInfo
    origin: str | None = None
    """Its uid in the original savepoint."""
    dropped: set[str] = field(default_factory=set)
    transforms: list[tuple[str, Callable[[StateEntry], Any]]] = field(default_factory=list)
    added: dict[str, tuple[NewState, Any]] = field(default_factory=dict)

    @property
    def unchanged(self) -> bool:
        return self.info.uid == self.origin and not (self.dropped or self.transforms)


class SavepointWriter:
    """Collects changes and writes them as a new savepoint. The original savepoint does not change.

    Keys are assigned to subtasks as in a running job, so that a job can start from the result at any parallelism.

    >>> from tempfile import TemporaryDirectory
    >>> from flintstream.common import Types
    >>> from flintstream.datastream.state import ValueStateDescriptor
    >>> from flintstream.savepoint import Savepoint
    >>> visits = ValueStateDescriptor("visits", Types.LONG())
    >>> spent = ValueStateDescriptor("spent", Types.DOUBLE())
    >>> with TemporaryDirectory() as directory:
    ...     first = SavepointWriter.new(max_parallelism=128)
    ...     first = first.with_state("shop", visits, [("ann", 3)]).with_state("shop", spent, [("ann", 0.5)])
    ...     first = first.with_state("till", spent, [(1, 17.0)])
    ...     path = first.write(f"{directory}/first")
    ...     changed = SavepointWriter.from_existing(path).remove_operator("till").remove_state("shop", "spent")
    ...     changed = changed.transform_state("shop", "visits", lambda entry: entry.value + 1)
    ...     second = Savepoint.load(changed.rename_operator("shop", "store").write(f"{directory}/second"))
    ...     print([operator.uid for operator in second.operators()])
    ...     print([(entry.key, entry.value) for entry in second.read("store", "visits")])
    ['store']
    [('ann', 4)]
    """

    def __init__(self, source: Savepoint | None, max_parallelism: int | None) -> None:
        """See :meth:`from_existing` and :meth:`new`."""
        self._source = source
        self._max_parallelism = max_parallelism
        found = source.metadata.operators() if source is not None else {}
        self._operators = {uid: _Operator(info, uid) for uid, (_, info) in found.items()}

    @classmethod
    def from_existing(cls, path: str, *, allow_pickle: bool = False) -> SavepointWriter:
        """Start with the contents of the savepoint or checkpoint at ``path``.

        Args:
            path: as in :meth:`Savepoint.load`.
            allow_pickle: as in :meth:`Savepoint.load`. Pickled values that no change reads are copied without it.

        Raises:
            CheckpointError: There is no savepoint or checkpoint at ``path``.
            CorruptCheckpointError: It is damaged.
        """
        return cls(Savepoint.load(path, allow_pickle=allow_pickle), None)

    @classmethod
    def new(cls, max_parallelism: int) -> SavepointWriter:
        """Start with an empty savepoint.

        Args:
            max_parallelism: that of the program's operators (``set_max_parallelism``), which cannot change later.

        Raises:
            ValueError: ``max_parallelism`` is not from 1 to 32768.
        """
        if not 1 <= max_parallelism <= 1 << 15:
            raise ValueError(f"the maximum parallelism must be from 1 to 32768, but got {max_parallelism}")
        return cls(None, max_parallelism)

    # -- changes ---------------------------------------------------------------------------------------------------

    def remove_operator(self, uid: str) -> Self:
        """Leave out an operator with all its state.

        Raises:
            CheckpointError: No operator has this uid.
        """
        self._find(uid)
        del self._operators[uid]
        return self

    def rename_operator(self, uid: str, new_uid: str) -> Self:
        """Give an operator a new uid, to match the program.

        Raises:
            CheckpointError: No operator has the uid, or the new uid is in use.
        """
        operator = self._find(uid)
        if new_uid in self._operators:
            raise CheckpointError(f"cannot rename operator '{uid}' to '{new_uid}': that uid is already in use")
        operator.info = replace(operator.info, uid=new_uid)
        operator.added = {n: (replace(state, uid=new_uid), data) for n, (state, data) in operator.added.items()}
        self._operators = {item.info.uid: item for item in self._operators.values()}
        return self

    def remove_state(self, uid: str, name: str) -> Self:
        """Leave out a keyed state of an operator. State of windows stays.

        Raises:
            CheckpointError: The operator or state does not exist.
        """
        operator = self._find(uid)
        if operator.added.pop(name, None) is None:
            self._check_state(operator, name)
        operator.dropped.add(name)
        return self

    def transform_state(self, uid: str, name: str, function: Callable[[StateEntry], Any]) -> Self:
        """Give the entries of a keyed state new values.

        Args:
            uid: the uid of the operator.
            name: the name of the state.
            function: takes an entry and returns its new value, for a list all its elements; None removes the entry. The
                time of the last access stays. If the length of a list changes, all elements get its latest time.

        Raises:
            CheckpointError: The operator or state does not exist.
        """
        operator = self._find(uid)
        if name in operator.added:
            raise CheckpointError(
                f"the state '{name}' of operator '{uid}' is new: change the data passed to with_state instead"
            )
        self._check_state(operator, name)
        operator.transforms.append((name, function))
        return self

    def with_state(
        self,
        uid: str,
        descriptor: StateDescriptor,
        data: Any,
        *,
        name: str | None = None,
        parallelism: int | None = None,
        last_access_ms: int | None = None,
    ) -> Self:
        """Fill a keyed state with data, in place of its former contents.

        Args:
            uid: the uid of the operator. A new operator is added for an unknown uid.
            descriptor: as in the program. With a time-to-live, entries get a time of last access.
            data: an iterable of pairs of key and value, where the value for a list state is a list of the elements and
                for a map state a dict; or an iterable of entries as :meth:`Savepoint.read` returns them; or a Spark
                DataFrame with the columns ``key`` and ``value``, and optionally ``map_key`` and ``last_access_ms``,
                which parallel tasks write. Keys must be unique. Structs become tuples, unless the declared type is a
                row.
            name: the name of a new operator; by default its uid.
            parallelism: the number of state files of a new operator. A job can start with any other parallelism.
            last_access_ms: the time of last access (ms since the epoch) for data without one; by default, now.

        Raises:
            CheckpointError: The operator is not keyed.
        """
        operator = self._operators.get(uid) or self._add_operator(uid, name or uid, parallelism)
        info = operator.info
        if not info.keyed:
            raise CheckpointError(f"operator '{info.name}' (uid {uid}) is not keyed, so it has no keyed state")
        stamp = time.time_ns() // 1_000_000 if last_access_ms is None else last_access_ms
        state = NewState.of(uid, descriptor, info.parallelism, info.max_parallelism, stamp)
        operator.dropped.add(descriptor.name)
        operator.transforms = [transform for transform in operator.transforms if transform[0] != descriptor.name]
        operator.added[descriptor.name] = state, data
        return self

    def _find(self, uid: str) -> _Operator:
        operator = self._operators.get(uid)
        if operator is None:
            known = ", ".join(f"'{uid}' ({item.info.name})" for uid, item in self._operators.items()) or "none"
            raise CheckpointError(f"the savepoint has no operator with the uid '{uid}'; its uids are {known}")
        return operator

    def _check_state(self, operator: _Operator, name: str) -> None:
        if self._source is None or operator.origin is None or name in operator.dropped:
            known = ", ".join(f"'{item}'" for item in operator.added) or "none"
            raise CheckpointError(f"operator '{operator.info.uid}' has no state '{name}'; it has {known}")
        next(self._source.read(operator.origin, name), None)

    def _add_operator(self, uid: str, name: str, parallelism: int | None) -> _Operator:
        most = self._max_parallelism
        if most is None:
            known = {item.info.max_parallelism for item in self._operators.values()}
            if len(known) != 1:
                raise CheckpointError(
                    f"operator '{uid}' is new, but the existing operators have different maximum parallelisms "
                    f"({', '.join(map(str, sorted(known)))}): make a separate savepoint with SavepointWriter.new"
                )
            (most,) = known
        known_parallelism = max((item.info.parallelism for item in self._operators.values()), default=1)
        info = OperatorInfo(uid, name, min(parallelism or known_parallelism, most), most, keyed=True)
        operator = self._operators[uid] = _Operator(info)
        return operator

    # -- writing ---------------------------------------------------------------------------------------------------

    def write(self, path: str, *, spark: Any = None) -> str:
        """Write the savepoint and return ``path``. The result does not depend on files of the original.

        Args:
            path: a directory, on this machine or as a URI. It is created.
            spark: a Spark session whose tasks copy the existing state, one per subtask; by default this process does.

        Raises:
            CheckpointError: The path already holds a savepoint, a function failed, or data does not fit.
            CorruptCheckpointError: A file of the original is damaged.
        """
        store = file_store(path)
        if store.exists(METADATA):
            raise CheckpointError(f"{store.uri('')} already holds a checkpoint or savepoint: pass another path")
        chains = self._copy_state(store, spark)
        chains += [
            ChainState((item.info,), ((),) * item.info.parallelism)
            for item in self._operators.values()
            if item.origin is None
        ]
        added = [(uid, *value) for uid, operator in self._operators.items() for value in operator.added.values()]
        for number, (uid, state, data) in enumerate(added):
            pieces = _fill(state, data, store, f"new-{number}")
            chains = [_with_pieces(chain, uid, pieces) for chain in chains]
        store.write(METADATA, to_bytes(self._metadata(tuple(chains))))
        return path

    def _copy_state(self, store: FileStore, spark: Any) -> list[ChainState]:
        """Write the state of the operators of the original savepoint."""
        if self._source is None:
            return []
        origins = {operator.origin: operator for operator in self._operators.values() if operator.origin is not None}
        renamed = {origin: item.info.uid for origin, item in origins.items() if item.info.uid != origin}
        chains: list[tuple[tuple[OperatorInfo, ...], list[Rewrite | None]]] = []
        for number, chain in enumerate(self._source.metadata.chains):
            kept = [origins[info.uid] for info in chain.operators if info.uid in origins]
            unchanged = not renamed and len(kept) == len(chain.operators) and all(item.unchanged for item in kept)
            edits = tuple(map(_edit, kept))
            rewrites = [
                Rewrite(files, edits, renamed, unchanged and files.is_one_file, store, f"chain-{number}-{subtask}")
                if files.pieces
                else None
                for subtask, files in enumerate(self._source.subtasks(chain))
            ]
            if kept:
                chains.append((tuple(item.info for item in kept), rewrites))
        tasks = [rewrite for _, rewrites in chains for rewrite in rewrites if rewrite is not None]
        if spark is None:
            pieces = iter([task() for task in tasks])
        else:
            from flintstream.engine.frames import sessions

            pieces = iter(sessions.run_tasks(tasks, spark))
        return [
            ChainState(infos, tuple(() if rewrite is None else (next(pieces),) for rewrite in rewrites))
            for infos, rewrites in chains
        ]

    def _metadata(self, chains: tuple[ChainState, ...]) -> Metadata:
        now = time.time_ns() // 1_000_000
        if self._source is None:
            return Metadata("savepoint", 0, uuid.uuid4().hex, "", now, flintstream.__version__, chains)
        old = self._source.metadata
        uids = {
            operator.origin: operator.info.uid for operator in self._operators.values() if operator.origin is not None
        }
        return replace(
            old,
            purpose="savepoint",
            created_ms=now,
            release=flintstream.__version__,
            chains=chains,
            enumerators={uids[uid]: state for uid, state in old.enumerators.items() if uid in uids},
            committables={uids[uid]: items for uid, items in old.committables.items() if uid in uids},
            depth=0,
        )


def _edit(operator: _Operator) -> OperatorEdit:
    assert operator.origin is not None  # noqa: S101 - only existing operators are edited
    dropped, transforms = frozenset(operator.dropped), tuple(operator.transforms)
    return OperatorEdit(operator.origin, operator.info.uid, operator.info.keyed, dropped, transforms)


def _with_pieces(chain: ChainState, uid: str, pieces: dict[int, StatePiece]) -> ChainState:
    if all(info.uid != uid for info in chain.operators):
        return chain
    subtasks = ((*old, pieces[number]) if number in pieces else old for number, old in enumerate(chain.subtasks))
    return replace(chain, subtasks=tuple(subtasks))


def _fill(state: NewState, data: Any, store: FileStore, prefix: str) -> dict[int, StatePiece]:
    """Write a state made from data, and return the file of each subtask that has some of it."""
    if type(data).__module__.startswith("pyspark."):
        from flintstream.savepoint import frames

        return frames.write_state(state, data, store, prefix)
    return state.write(data, store, prefix)
