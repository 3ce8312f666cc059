"""Checkpoints and savepoints: when they are due, what they contain, which are kept."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import flintstream
from flintstream.checkpoint import codec
from flintstream.checkpoint.metadata import METADATA, ChainState, Metadata, OperatorInfo, to_bytes
from flintstream.checkpoint.pickles import refusing
from flintstream.common._clock import wall_clock
from flintstream.coordinator.checkpointing.completed import Completed
from flintstream.coordinator.checkpointing.history import SAVEPOINT, CheckpointHistory
from flintstream.coordinator.checkpointing.losses import Losses
from flintstream.errors import CheckpointError, PickleRefusedError
from flintstream.options.checkpointing import MAX_STATE_SIZE
from flintstream.runtime.protocol import SHARED, SnapshotRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flintstream.checkpoint.settings import CheckpointSettings
    from flintstream.runtime.plan import ChainPlan, JobPlan
    from flintstream.runtime.protocol import Report, StateHandle
    from flintstream.storage.file_store import FileStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Contents:
    """The contents of a checkpoint other than the state of the subtasks."""

    chains: Sequence[ChainPlan]
    """The operators and subtasks it covers."""
    enumerators: Mapping[str, Any]
    """Source uid -> state of its enumerator."""
    committables: Mapping[str, Sequence[Any]]
    """Sink uid -> output that is prepared but not committed."""
    finished: bool = False


class Checkpoints:
    """The checkpoints of one job, over all its restarts."""

    def __init__(self, settings: CheckpointSettings, plan: JobPlan, now_ms: int) -> None:
        """Take checkpoints of the job of ``plan`` from ``now_ms`` on."""
        self.settings = settings
        self.job_id = plan.job_id
        self.job_name = plan.job_name
        self._names = {node.uid: node.name for chain in plan.chains for node in chain.nodes}
        self.logged = plan.settings.changelog is not None
        """Whether checkpoints refer to a log of state changes."""
        self.native = plan.settings.state.backend == "rocksdb"
        """Whether the state backend has its own files."""
        self.store = settings.storage.child(self.job_id) if settings.storage is not None else None
        limit = settings.max_state_size
        self.max_state_size = MAX_STATE_SIZE.default if limit is None and self.store is None else limit
        self.completed: list[Completed] = []
        self.number = 0
        self.in_progress = False
        """Whether subtasks write a checkpoint or savepoint, or the driver completes it."""
        self.stopped = False
        """Whether the job has ended with a savepoint, which is then the latest one here."""
        self.losses = Losses(logged=self.logged)
        self.history = CheckpointHistory()
        self.failures = 0
        self.failed = 0
        """Total number of failed checkpoints."""
        self.due_ms = now_ms
        """When the last checkpoint was due, or taken if that was later."""
        self.ended_ms = now_ms
        self.duration_ms = 0
        """Duration of the last completed checkpoint, from the end of the epoch's work."""
        self.new_bytes = 0
        """Bytes written for it that no earlier checkpoint had."""

    @property
    def enabled(self) -> bool:
        """Whether checkpoints are taken regularly."""
        return self.settings.interval_ms is not None

    @property
    def latest(self) -> Completed | None:
        """The checkpoint that the job would go back to."""
        return self.completed[-1] if self.completed else None

    def due_in(self, now_ms: int) -> int | None:
        """Return the ms until the next checkpoint is due (0 or less if it is due now), None if checkpoints are off."""
        if self.settings.interval_ms is None:
            return None
        due_ms = max(self.due_ms + self.settings.interval_ms, self.ended_ms + self.settings.min_pause_ms)
        return due_ms - now_ms

    # -- requests ----------------------------------------------------------------------------------------------------

    def request(self, now_ms: int, handles: Iterable[StateHandle] = (), *, full: bool = False) -> SnapshotRequest:
        """Start a checkpoint, at the end of an epoch that starts at ``now_ms`` from the changelogs of ``handles``.

        A ``full`` one shares no files with others.
        """
        # The interval counts from when it is due, which may be during that epoch: otherwise checkpoints come too often.
        self.due_ms = now_ms + max(self.due_in(now_ms) or 0, 0)
        self.number += 1
        settings = self.settings
        form = "full"
        if not full and self.max_state_size is None and (self.logged or self.native):
            form = "log" if self.logged else "native"
            self.losses.look(self.store, self.latest, handles)
        directory = f"chk-{self.number}"
        return SnapshotRequest(
            number=self.number,
            form=form,
            store=self.store,
            directory=directory,
            shared=SHARED if settings.incremental and not full else f"{directory}/files",
            known=frozenset(path for item in self._present() if not full for path in item.metadata.paths()),
            inline_below=settings.inline_below if self.max_state_size is None else self.max_state_size,
            in_metadata=self.max_state_size is not None,
            timeout_ms=settings.timeout_ms,
            transfer_threads=settings.transfer_threads,
        )

    def notice_loss_of(self, handles: Iterable[StateHandle]) -> bool:
        """Return whether files of a changelog have been deleted. If so, the next epoch writes all state again."""
        return self.losses.look_for_log(self.store, self.latest, handles)

    def _present(self) -> Iterator[Completed]:
        """Return the checkpoints of this job whose files can be referred to."""
        return (item for item in self.completed if item.own and item.metadata.number > self.losses.checkpoint)

    def request_savepoint(self, store: FileStore) -> SnapshotRequest:
        """Start a savepoint in a new directory of ``store``."""
        self.number += 1
        name = f"savepoint-{self.job_id[:6]}-{uuid.uuid4().hex[:12]}"
        return SnapshotRequest(
            number=self.number, form="full", store=store.child(name), inline_below=self.settings.inline_below
        )

    # -- completion --------------------------------------------------------------------------------------------------

    def complete(
        self,
        request: SnapshotRequest,
        reports: Iterable[Report],
        contents: Contents,
        now_ms: int,
        *,
        optional: bool = False,
    ) -> Completed | None:
        """Finish a checkpoint from what all subtasks wrote. Return None if it failed and the job may continue.

        Raises:
            CheckpointError: It failed, and more have failed in a row than the job tolerates; or it is ``optional``, so
                that the job may always continue.
        """
        reports = list(reports)
        try:
            done = self._finish(request, reports, contents, wall_clock(), "checkpoint")
        except Exception as error:
            self.ended_ms = now_ms
            written = {path for report in reports for piece in report.pieces or () for path in piece.paths()}
            self.history.add_failed(request.number, "checkpoint", reports, _why(error))
            self._discard_with(request, written)
            if optional:
                raise CheckpointError(f"checkpoint {request.number} failed: {_why(error)}") from error
            self._fail(request, _why(error))
            return None
        self.failures = 0
        self.ended_ms = now_ms
        self.duration_ms = max((report.state_ms for report in reports), default=0)
        known = {path for item in self.completed for path in item.metadata.paths()}
        self.new_bytes = done.metadata.size_without(known)
        self.completed.append(done)
        self.history.add_completed(done.metadata, done.where, reports, self.new_bytes)
        return done

    def add_duration(self, millis: int) -> None:
        """Add the time that the driver took for the latest checkpoint."""
        self.duration_ms += millis
        self.history.add_duration(millis)

    def last(self, contents: Contents, created_ms: int) -> None:
        """Write a checkpoint that records that all input has ended and only commits are left.

        Raises:
            CheckpointError: The storage rejects it.
        """
        self.number += 1
        request = SnapshotRequest(self.number, "full", self.store, f"chk-{self.number}")
        try:
            self.completed.append(self._finish(request, (), contents, created_ms, "checkpoint"))
        except Exception as error:
            raise CheckpointError(
                f"checkpoint {self.number}, which holds the last output of the job, failed: {_why(error)}"
            ) from error

    def complete_savepoint(
        self, request: SnapshotRequest, reports: Iterable[Report], contents: Contents, created_ms: int
    ) -> Completed:
        """Finish a savepoint.

        Raises:
            CheckpointError: It failed.
        """
        reports = list(reports)
        try:
            done = self._finish(request, reports, contents, created_ms, SAVEPOINT)
        except Exception as error:
            self.history.add_failed(request.number, SAVEPOINT, reports, _why(error))
            self._discard(request)
            raise CheckpointError(f"the savepoint failed: {_why(error)}") from error
        self.history.add_completed(done.metadata, done.where, reports, done.metadata.size())
        return done

    def _finish(
        self, request: SnapshotRequest, reports: Sequence[Report], contents: Contents, created_ms: int, purpose: str
    ) -> Completed:
        for report in reports:
            if report.snapshot_error:
                raise CheckpointError(report.snapshot_error)
        slowest = max((report.state_ms for report in reports), default=0)
        if request.timeout_ms is not None and slowest > request.timeout_ms:
            raise CheckpointError(f"it took {slowest} ms, but the timeout is {request.timeout_ms} ms")
        metadata = Metadata(
            purpose=purpose,
            number=request.number,
            job_id=self.job_id,
            job_name=self.job_name,
            created_ms=created_ms,
            release=flintstream.__version__,
            chains=_chains(contents.chains, reports),
            enumerators=self._encode_values(codec.encode_one, contents.enumerators, "the state of the enumerator"),
            committables=self._encode_values(
                codec.encode, {u: list(i) for u, i in contents.committables.items() if i}, "the output to commit"
            ),
            depth=1 if request.directory else 0,
            finished=contents.finished,
        )
        written = b""
        if request.store is not None:
            path = f"{request.directory}/{METADATA}" if request.directory else METADATA
            written = to_bytes(metadata)
            request.store.write(path, written)
        return Completed(metadata, request.store, request.directory, metadata_bytes=len(written))

    def _encode_values(
        self, encode: Callable[[Any], bytes], values: Mapping[str, object], what: str
    ) -> dict[str, bytes]:
        """Return values by uid as bytes."""
        with refusing(self.settings.refuse_pickle):
            encoded = {}
            for uid, value in values.items():
                try:
                    encoded[uid] = encode(value)
                except PickleRefusedError as error:
                    raise error.within(what, f"the operator '{self._names.get(uid, uid)}'") from None
            return encoded

    def _discard_with(self, request: SnapshotRequest, written: set[str]) -> None:
        """Count a failed checkpoint and delete the files it has written."""
        self.failed += 1
        if self._discard(request) and self.store is not None and not self.logged:
            for path in written - self.needed_files():
                if path.startswith(f"{SHARED}/"):
                    _quietly(self.store.delete, path)

    def _fail(self, request: SnapshotRequest, why: str) -> None:
        """Count a checkpoint that has failed in a row.

        Raises:
            CheckpointError: More have failed in a row than the job tolerates.
        """
        self.failures += 1
        if self.failures > self.settings.tolerable_failures:
            tolerated = self.settings.tolerable_failures
            raise CheckpointError(
                f"checkpoint {request.number} failed: {why}. The job tolerates {tolerated} failed checkpoints in a row "
                "(execution.checkpointing.tolerable-failed-checkpoints)"
            )
        _log.warning("checkpoint %d failed: %s", request.number, why)

    @staticmethod
    def _discard(request: SnapshotRequest) -> bool:
        """Delete a directory. Return False if its metadata may still exist, which then needs its files."""
        store, directory = request.store, request.directory
        if store is None or not _quietly(store.delete, f"{directory}/{METADATA}" if directory else METADATA):
            return False
        _quietly(store.delete_tree, directory)
        return True

    def subsume(self) -> None:
        """Delete the checkpoints that are no longer kept, and the shared files that only they needed."""
        dropped = self.completed[: -self.settings.retained]
        self.completed = self.completed[-self.settings.retained :]
        if self.store is None:
            return
        needed = self.needed_files()
        for item in dropped:
            if item.own:
                self._delete(item, needed)

    def _delete(self, dropped: Completed, needed: set[str]) -> None:
        assert self.store is not None  # noqa: S101
        if not _quietly(self.store.delete, f"{dropped.directory}/{METADATA}"):  # only the metadata needs the rest
            return
        for path in dropped.metadata.paths() - needed:
            if path.startswith(f"{SHARED}/") and not self.logged:
                _quietly(self.store.delete, path)
        _quietly(self.store.delete_tree, dropped.directory)

    def needed_files(self) -> set[str]:
        """Return the files below the job's directory that kept checkpoints need."""
        return {path for item in self.completed if item.own for path in item.metadata.paths()}

    def sweep(self) -> None:
        """Delete files that no checkpoint needs. Call it only while no subtask runs, as it may be writing files."""
        if self.store is None:
            return
        needed = self.needed_files() | {f"{item.directory}/{METADATA}" for item in self.completed if item.own}
        try:
            found = self.store.list("")
        except Exception as error:  # noqa: BLE001 - whatever a storage raises
            _log.warning("cannot list %s: %s", self.store.uri(""), error)
            return
        unneeded = [path for path in found if path not in needed]
        metadata = [path for path in unneeded if path.endswith(METADATA)]
        deleted = [_quietly(self.store.delete, path) for path in metadata]
        if all(deleted):
            for path in set(unneeded).difference(metadata):
                _quietly(self.store.delete, path)

    def end(self, *, finished: bool, cancelled: bool, owed: bool = False) -> None:
        """Delete the checkpoints after the job has ended, unless they must outlive it or output is still owed."""
        keep = not finished and (self.settings.keep_when_cancelled if cancelled else self.settings.keep_when_failed)
        if keep or owed:
            self.sweep()
        elif self.store is not None:
            for item in self.completed:
                if item.own:
                    _quietly(self.store.delete, f"{item.directory}/{METADATA}")
            _quietly(self.store.delete_tree, "")

    def go_back_to(self, completed: Completed) -> None:
        """Start from a checkpoint or savepoint of another run."""
        self.completed = [replace(completed, own=False)]
        self.number = completed.metadata.number

    def stop_with(self, savepoint: Completed) -> None:
        """Record that the job ends with a savepoint and cannot go back to an older checkpoint."""
        self.go_back_to(savepoint)
        self.stopped = True

    def take_over(self, found: Iterable[Completed], latest: Completed) -> None:
        """Continue from the latest checkpoint of an earlier run of the job, and adopt all checkpoints of that run."""
        until = latest.metadata.number
        own = [replace(item, own=True) for item in found if item.metadata.number <= until]
        self.completed = sorted(own, key=lambda item: item.metadata.number)
        self.number = until


def _chains(chains: Sequence[ChainPlan], reports: Sequence[Report]) -> tuple[ChainState, ...]:
    pieces = {(report.chain, report.subtask): report.pieces or () for report in reports}
    return tuple(
        ChainState(
            tuple(
                OperatorInfo(node.uid, node.name, chain.parallelism, chain.max_parallelism, node.keyed)
                for node in chain.nodes
            ),
            tuple(pieces.get((chain.id, subtask), ()) for subtask in range(chain.parallelism)),
        )
        for chain in chains
    )


def _quietly(delete: Any, path: str) -> bool:
    """Delete a path and return whether that worked. A failure only leaves a file behind, so it is just logged."""
    try:
        delete(path)
    except Exception as error:  # noqa: BLE001 - whatever a storage raises
        _log.warning("cannot delete %s: %s", path, _why(error))
        return False
    return True


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, CheckpointError) else f"{type(error).__name__}: {error}"
