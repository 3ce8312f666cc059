"""Logging a subtask's state after each epoch, writing it for checkpoints, and restoring it.

The state of a subtask is stored in two forms. The *state log* holds the changes of every epoch, so that any worker can
run the next one; it ends with the job. A *checkpoint* outlives the job, and another program can restore it with another
parallelism or backend. With the changelog enabled, the log is durable and checkpoints refer to it.
"""

from __future__ import annotations

import io
import pickle
import shutil
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from flintstream.checkpoint.changes import check_form
from flintstream.checkpoint.checked_file import checked_file, usable
from flintstream.checkpoint.metadata import StatePiece
from flintstream.checkpoint.pickles import refuses_pickle
from flintstream.checkpoint.state_file import StateFile, StateFileWriter
from flintstream.common._user_code.pickling import dumps
from flintstream.errors import CheckpointError, CorruptCheckpointError
from flintstream.runtime.keys import key_group, subtask_of_key_group
from flintstream.runtime.protocol import StateHandle
from flintstream.runtime.state_log import pieces as log_pieces
from flintstream.runtime.state_log.log import NATIVE
from flintstream.runtime.state_log.native_files import (
    download,
    files_of,
    is_native,
    open_native,
    restore_from_log,
    upload,
    write_to_log,
)
from flintstream.runtime.state_log.restored import RestoredOperator, channel_labels
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.state.backend import loading
from flintstream.storage.local import again_if_deleted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.operators.watermarks import Valve
    from flintstream.runtime.plan import ChainPlan, JobPlan, NodePlan
    from flintstream.runtime.protocol import Instruction, Restore, SnapshotRequest
    from flintstream.runtime.state_log.log import StateLog
    from flintstream.state.backend import Change
    from flintstream.storage.file_store import FileStore


class SubtaskState:
    """Logs, snapshots and restores the state of one subtask."""

    def __init__(
        self,
        job: JobPlan,
        chain: ChainPlan,
        index: int,
        operators: Mapping[int, Operator],
        valves: Mapping[tuple[int, int], Valve],
        state_log: StateLog,
    ) -> None:
        """Handle the state of a subtask.

        Args:
            job: the plan of the job.
            chain: the chain of the subtask.
            index: the number of the subtask.
            operators: its operators by node.
            valves: the valves of its inputs by node and number of the input; all inputs of a node share one.
            state_log: the log of the job.
        """
        self.settings = job.settings.state
        self.chain = chain
        self.index = index
        self.nodes: dict[int, NodePlan] = {node.id: node for node in chain.nodes}
        self.operators = operators
        self.valves = valves
        self.state_log = state_log
        self.labels = channel_labels(job, chain, index)

    def keyed_operators(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield uid, state and timers of every keyed operator."""
        for number, operator in self.operators.items():
            if operator.context.state is not None:
                yield self.nodes[number].uid, operator.context.state, operator.context.timers

    # -- the log -----------------------------------------------------------------------------------------------------

    def log(self, instruction: Instruction, version: str) -> tuple[StateHandle, ...]:
        """Write this epoch's changes of the keyed state, or all keyed state if many changes have piled up."""
        keyed = list(self.keyed_operators())
        if not keyed:
            return ()
        log = self.state_log
        handles = instruction.handles
        full = self.writes_all(instruction) or (not log.durable and self._piled_up(handles))
        merged = () if full else log_pieces.to_merge(handles[instruction.materializing :])
        old_data = _data_of(log, merged)
        full = full or old_data is None
        native = full and not log.durable and all(is_native(state) for _, state, _ in keyed)
        name = f"{self.chain.id}-{self.index}-{version}{NATIVE if native else ''}"
        others = () if full else handles[: len(handles) - len(merged)]
        buffer = io.BytesIO()
        writer = StateFileWriter(buffer, log=not full)
        kept: set[str] = set()
        for old, data in zip(merged, old_data or (), strict=False):
            with checked_file(io.BytesIO(data), old.name, old.size, old.checksum) as file:
                writer.copy(file)
            kept.update(old.operators)
        copied = write_to_log(log, name, keyed) if native else 0
        for uid, state, timers in keyed:
            if not native and _write(writer, uid, state.take_snapshot() if full else state.take_delta()):
                kept.add(uid)
            if _write(writer, uid, timers.take_snapshot() if full else timers.take_delta()):
                kept.add(uid)
        summary = writer.finish()
        epochs = log_pieces.epochs_of(() if full else merged)
        handle = StateHandle(
            name, version, full, summary.size, summary.checksum, tuple(sorted(kept)), epochs, native, copied
        )
        return (*others, log_pieces.store(log, handle, buffer.getvalue(), others))

    def writes_all(self, instruction: Instruction) -> bool:
        """Return whether this epoch ends with writing all state, regardless of what it changes.

        The second epoch may be the first one of full length, and may then change nearly all of the state.
        """
        if instruction.new_log:
            return True
        handles = instruction.handles
        small = not any(handle.native or handle.size > log_pieces.MERGED_BYTES for handle in handles)
        return not handles or (instruction.epoch == 1 and small and not self.state_log.durable)

    @staticmethod
    def _piled_up(handles: Sequence[StateHandle]) -> bool:
        deltas = sum(handle.size for handle in handles if not handle.full)
        base = sum(handle.size + handle.copied for handle in handles if handle.full)
        return deltas > 2 * max(base, 1 << 20)

    def catch_up(self, instruction: Instruction, version: str | None) -> bool:
        """Bring the state in memory, which has ``version``, to the one that the epoch starts from.

        Return whether all input of the subtask had ended then.
        """
        assert instruction.operator_state is not None  # noqa: S101 - a version comes with its operator_state
        operator_state = pickle.loads(instruction.operator_state)
        versions = [handle.version for handle in instruction.handles]
        missing = list(instruction.handles)
        if version in versions:
            missing = missing[versions.index(version) + 1 :]
        with ExitStack() as bulk:
            if any(handle.full and not handle.native for handle in missing):
                for _, state, _ in self.keyed_operators():
                    bulk.enter_context(loading(state))
            for handle in missing:
                self._catch_up_with(handle)
        for number, operator in self.operators.items():
            if operator.context.timers is not None:
                operator.context.timers.current_watermark = operator_state["event_time"].get(number, MIN_TIMESTAMP)
            if number in operator_state["operators"]:
                operator.restore(operator_state["operators"][number])
        for key, marks in operator_state["valves"].items():
            self.valves[key].restore(marks)
        return bool(operator_state["finished"])

    def _catch_up_with(self, handle: StateHandle) -> None:
        file = StateFile(log_pieces.read(self.state_log, handle), handle.name)
        if handle.native:
            restore_from_log(self.state_log, handle.name, self.keyed_operators())
        for uid, state, timers in self.keyed_operators():
            if handle.full:
                timers.clear_all()
                if not handle.native:
                    state.clear_all()
            with usable(handle.name):
                _apply(file.changes(uid), state, timers)

    def operator_state(self, *, finished: bool) -> bytes:
        """Return the pickled state other than keyed state, for the next epoch, and whether all input has ended."""
        return dumps(
            {
                "operators": {n: state for n, o in self.operators.items() if (state := o.snapshot()) is not None},
                "valves": {key: valve.snapshot() for key, valve in self.valves.items()},
                "event_time": {
                    n: o.context.timers.current_watermark
                    for n, o in self.operators.items()
                    if o.context.timers is not None
                },
                "finished": finished,
            }
        )

    # -- checkpoints -------------------------------------------------------------------------------------------------

    def snapshot(self, request: SnapshotRequest, handles: Sequence[StateHandle], name: str) -> Iterator[StatePiece]:
        """Write all state for a checkpoint or savepoint, piece by piece; ``name`` must be unique to this attempt.

        Raises:
            TimeoutError: The checkpoint took too long.
            CheckpointError: The state is too large for the driver's memory.
            OSError: The storage cannot be written.
        """
        deadline = None if request.timeout_ms is None else time.monotonic() + request.timeout_ms / 1000
        buffer = tempfile.SpooledTemporaryFile(max(request.inline_below, 1 << 20))  # noqa: SIM115 - closed below
        with buffer:
            writer = StateFileWriter(buffer)  # type: ignore[arg-type]
            kept = set()
            for uid, state, timers in self.keyed_operators():
                if request.form == "log":
                    continue
                if request.form == "native" and is_native(state):
                    if files := upload(request, uid, state):
                        yield StatePiece(native=files, operators=(uid,))
                elif _write(writer, uid, state.take_snapshot(), deadline):
                    kept.add(uid)
                if _write(writer, uid, timers.take_snapshot(), deadline):
                    kept.add(uid)
            if request.form == "log":
                yield from (log_pieces.to_checkpoint_piece(self.state_log, handle) for handle in handles)
            for number, operator in self.operators.items():
                uid, values = self.nodes[number].uid, self._values(number)
                for title, value in values.items():
                    writer.write_value(uid, title, value)
                if operator.keeps_state and "operator" in values:
                    kept.add(uid)
            summary = writer.finish()
            buffer.seek(0)
            piece = StatePiece("", summary.size, summary.checksum, operators=tuple(sorted(kept)))
            if summary.size <= request.inline_below:
                yield replace(piece, inline=buffer.read())
                return
            if request.store is None or request.in_metadata:
                raise CheckpointError(
                    f"the state of subtask {self.index} of '{self.chain.name}' has {summary.size} "
                    f"bytes, but checkpoints in the driver's memory hold {request.inline_below} at most: use a "
                    "FileSystemCheckpointStorage (execution.checkpointing.dir) or raise max_state_size"
                )
            path = f"{request.directory}/{name}" if request.directory else name
            store = request.store
            again_if_deleted(lambda: _copy(buffer, store, path))
            _check_deadline(deadline)
            yield replace(piece, path=path)

    def _values(self, number: int) -> dict[str, Any]:
        """Return an operator's state other than keyed state."""
        operator, values = self.operators[number], {}
        own = operator.snapshot()
        if own is not None:
            values["operator"] = own
        if operator.context.timers is not None:
            values["watermark"] = operator.context.timers.current_watermark
        for valve in self._valves(number):
            values["valve"] = (valve.combined, valve.is_idle)
            values["channels"] = [
                (self.labels[channel], watermark, channel in valve.idle_channels)
                for channel, watermark in valve.watermarks.items()
            ]
        return values

    def _valves(self, number: int) -> list[Valve]:
        return [valve for (node, _), valve in self.valves.items() if node == number][:1]

    # -- restoring ---------------------------------------------------------------------------------------------------

    def restore(self, restore: Restore) -> None:
        """Restore this subtask's part of a checkpoint."""
        chain, index = self.chain, self.index
        checked: set[str] = set()
        for number, operator in self.operators.items():
            found = restore.operators.get(number)
            if found is None:
                continue
            uid, place = found
            old = restore.chains[place]
            parallelism = len(old.subtasks)
            same = parallelism == chain.parallelism
            large = any(info.keyed for info in old.operators)
            restored = RestoredOperator(uid)
            with loading(operator.context.state):
                for position, pieces in enumerate(old.subtasks):
                    if same and position != index:
                        continue
                    keep, whole = None, True
                    if not same:
                        overlap = _overlap(position, parallelism, index, chain.parallelism, chain.max_parallelism)
                        keep = _belongs_to(index, chain.parallelism, chain.max_parallelism) if overlap else _nothing
                        whole = overlap or not large  # otherwise the subtasks that take over the keys check the file
                    self._restore_pieces(restore, pieces, operator, restored, keep, checked if whole else None)
            restored.hand_over(operator, self._valves(number), self.labels, same=same, place=(index, chain.parallelism))

    def _restore_pieces(
        self,
        restore: Restore,
        pieces: Iterable[StatePiece],
        operator: Operator,
        restored: RestoredOperator,
        keep: Any,
        checked: set[str] | None,
    ) -> None:
        uid, store = restored.uid, restore.store
        state, timers = operator.context.state, operator.context.timers
        for piece in pieces:
            own = files_of(piece, uid)
            if own and state is not None and keep is not _nothing:
                with tempfile.TemporaryDirectory(prefix="flintstream-restore-") as directory:
                    assert store is not None  # noqa: S101 - native files are never in the metadata
                    download(store, own, directory, restore.transfer_threads)
                    if keep is None and is_native(state) and not refuses_pickle():
                        state.restore_native(directory)  # type: ignore[attr-defined]
                    else:
                        native = open_native(self.settings, directory, uid)
                        with usable(store.uri(own[0].path)), native as changes:
                            _apply(changes, state, timers, keep)
            if not piece.path and piece.inline is None:
                continue
            with open_piece(store, piece, checked) as file:
                if state is not None and keep is not _nothing:
                    _apply(file.changes(uid), state, timers, keep)
                restored.add(file)


def _data_of(log: StateLog, handles: Sequence[StateHandle]) -> list[bytes] | None:
    """Return the data of pieces, or None if someone has deleted one of them."""
    try:
        return [log_pieces.read(log, handle) for handle in handles]
    except FileNotFoundError:
        return None


def _nothing(key: Any) -> bool:  # noqa: ARG001 - has the signature of a key filter
    return False


@contextmanager
def open_piece(
    store: FileStore | None, piece: StatePiece, checked: set[str] | None, *, allow_pickle: bool = True
) -> Iterator[StateFile]:
    """Open the state file of a piece, as :func:`~flintstream.checkpoint.checked_file.checked_file` does.

    Args:
        store: the store of the file; None if the file is in the metadata.
        piece: the piece to open.
        checked: paths of files whose checksums are already verified; this file's path is added. None skips the check.
        allow_pickle: if False, pickled objects stay bytes.

    Raises:
        CorruptCheckpointError: The file is missing, damaged, or not the one that was stored.
    """
    where, stream = open_bytes(store, piece)
    whole = checked is not None and piece.path not in checked
    check = checked_file(stream, where, piece.size, piece.checksum, whole=whole, allow_pickle=allow_pickle)
    with stream, check as file:
        yield file
    if checked is not None and piece.path:
        checked.add(piece.path)


def open_bytes(store: FileStore | None, piece: StatePiece) -> tuple[str, BinaryIO]:
    """Return the name of a piece's state file for messages, and its bytes.

    Raises:
        CorruptCheckpointError: The file is missing.
    """
    if piece.inline is not None:
        return "the metadata", io.BytesIO(piece.inline)
    assert store is not None  # noqa: S101 - only pieces in the metadata need no store
    where = store.uri(piece.path)
    try:
        return where, store.open(piece.path)
    except FileNotFoundError:
        raise CorruptCheckpointError(where, "the file is missing") from None


def _copy(buffer: IO[bytes], store: FileStore, path: str) -> None:
    buffer.seek(0)
    with store.create(path) as file:
        shutil.copyfileobj(buffer, file, 1 << 20)


def _write(writer: StateFileWriter, uid: str, changes: Iterable[Change], deadline: float | None = None) -> bool:
    """Write changes; return whether there were any. Without any, the operator would lose nothing."""
    found = False
    for change in changes:
        writer.write(uid, change)
        found = True
        _check_deadline(deadline)
    return found


def _check_deadline(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise TimeoutError("the checkpoint did not complete in time")


def _apply(changes: Iterable[Change], state: Any, timers: Any, keep: Any = None) -> None:
    for change in changes:
        check_form(change)
        mine = change if keep is None else _filter_keys(change, keep)
        (timers if change.table.kind == "timers" else state).apply((mine,))


def _filter_keys(change: Change, keep: Any) -> Change:
    """Return the part of a change whose keys pass the filter ``keep``."""
    table = change.table
    depth = (table.kind == "map") + table.namespaced

    def keeps(key: Any) -> bool:
        if table.kind == "timers":
            return bool(keep(key[1]))
        for _ in range(depth):
            key = key[0]
        return bool(keep(key))

    if table.kind == "timers":
        return change._replace(keys=list(filter(keeps, change.keys)), deleted=list(filter(keeps, change.deleted)))
    rows = [(key, value) for key, value in zip(change.keys, change.values, strict=True) if keeps(key)]
    return change._replace(
        keys=[key for key, _ in rows],
        values=[value for _, value in rows],
        deleted=list(filter(keeps, change.deleted)),
        appended=[pair for pair in change.appended if keeps(pair[0])],
    )


def _belongs_to(index: int, parallelism: int, max_parallelism: int) -> Any:
    def keep(key: Any) -> bool:
        return subtask_of_key_group(key_group(key, max_parallelism), parallelism, max_parallelism) == index

    return keep


def _overlap(old: int, old_parallelism: int, new: int, parallelism: int, max_parallelism: int) -> bool:
    """Return whether two subtasks of different parallelism have key groups in common."""
    return any(
        subtask_of_key_group(group, old_parallelism, max_parallelism) == old
        and subtask_of_key_group(group, parallelism, max_parallelism) == new
        for group in range(max_parallelism)
    )
