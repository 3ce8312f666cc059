"""Mutations that the simulation must find: each one temporarily breaks the real code."""

from __future__ import annotations

import io
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from tests.simulation.storage import SimStore
from tests.simulation.world import the_world

from flintstream.checkpoint import metadata as metadata_module
from flintstream.coordinator.attempt import Attempt
from flintstream.coordinator.checkpointing import recovery
from flintstream.coordinator.checkpointing.checkpoints import Checkpoints
from flintstream.coordinator.checkpointing.commits import Commits
from flintstream.coordinator.checkpointing.materializer import Materializer
from flintstream.coordinator.sources import Sources
from flintstream.errors import CorruptCheckpointError
from flintstream.runtime.keys import key_group, subtask_of_key_group
from flintstream.runtime.operators.sink import SinkOperator
from flintstream.runtime.operators.source import SourceOperator
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator
from flintstream.runtime.state_log import pieces, subtask_state
from flintstream.runtime.state_log.restored import RestoredOperator
from flintstream.runtime.state_log.subtask_state import SubtaskState
from flintstream.runtime.task.streaming_input import StreamingInput
from flintstream.runtime.task.subtask import Subtask
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.state.heap_states import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Replacement = tuple[Any, str, Any]


def _early_commits() -> list[Replacement]:
    complete = Attempt._complete_checkpoint

    def mutated(self: Any, request: Any, reports: Any, **more: Any) -> None:
        commits = self.context.commits
        for node, prepared in commits.pending.items():
            commits.committers[node].commit(prepared)
        complete(self, request, reports, **more)

    return [(Attempt, "_complete_checkpoint", mutated)]


class _Later:
    """A slow store."""

    def __init__(self, store: Any) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    @contextmanager
    def create(self, path: str) -> Iterator[Any]:
        stream = io.BytesIO()
        yield stream
        vars(the_world()).setdefault("later", []).append((self.store, path, stream.getvalue()))


def _early_metadata() -> list[Replacement]:
    snapshot, begin = SubtaskState.snapshot, Attempt._run_epoch

    def mutated(self: Any, request: Any, handles: Any, name: str) -> Any:
        return snapshot(self, replace(request, store=_Later(request.store)), handles, name)

    def flushed(self: Any, splits: Any) -> None:
        later = vars(the_world()).setdefault("later", [])
        while later:
            store, path, data = later.pop()
            store.write(path, data)
        begin(self, splits)

    return [(SubtaskState, "snapshot", mutated), (Attempt, "_run_epoch", flushed)]


def _no_sync() -> list[Replacement]:
    def mutated(disk: Any, part: str, target: str, data: bytes) -> None:
        disk.write(target, data)

    return [(SimStore, "_write_durably", staticmethod(mutated))]


def _sync_but_no_directory() -> list[Replacement]:
    def mutated(disk: Any, part: str, target: str, data: bytes) -> None:
        disk.write(part, data)
        disk.sync(part)
        disk.rename(part, target)

    return [(SimStore, "_write_durably", staticmethod(mutated))]


def _stale_cache() -> list[Replacement]:
    recover = Subtask._recover

    def mutated(self: Any, instruction: Any) -> None:
        if self.version is None or instruction.version is None:
            recover(self, instruction)

    return [(Subtask, "_recover", mutated)]


def _catching_up(chosen: Callable[[Any], Any]) -> list[Replacement]:
    catch_up = SubtaskState.catch_up

    def mutated(self: Any, instruction: Any, _version: Any) -> Any:
        return catch_up(self, replace(instruction, handles=tuple(chosen(instruction.handles))), None)

    return [(SubtaskState, "catch_up", mutated)]


def _log_pieces(chosen: Callable[[Any], Any]) -> list[Replacement]:
    snapshot = SubtaskState.snapshot

    def mutated(self: Any, request: Any, handles: Any, name: str) -> Any:
        return snapshot(self, request, chosen(handles), name)

    return [(SubtaskState, "snapshot", mutated)]


def _deleted_too_early() -> list[Replacement]:
    take_over = Attempt._take_over

    def mutated(self: Any, reports: Any, began_ms: int) -> None:
        take_over(self, reports, began_ms)
        self._delete_obsolete()

    return [(Attempt, "_take_over", mutated)]


def _split_dealt_twice() -> list[Replacement]:
    def mutated(self: Any, states: Any, subtask: int, parallelism: int) -> object:
        splits = [split for own, _ in states for split in own]
        return splits[subtask % max(len(splits), 1) :: parallelism], False

    return [(SourceOperator, "redistribute", mutated)]


def _off_by_one() -> list[Replacement]:
    def belongs_to(index: int, parallelism: int, max_parallelism: int) -> Any:
        def keep(key: Any) -> bool:
            group = min(key_group(key, max_parallelism) + 1, max_parallelism - 1)
            return subtask_of_key_group(group, parallelism, max_parallelism) == index

        return keep

    return [(subtask_state, "_belongs_to", belongs_to)]


def _truncated_early() -> list[Replacement]:
    poll = Materializer.poll

    def mutated(self: Any, subtasks: Any, now_ms: int) -> Iterator[str]:
        yield from poll(self, subtasks, now_ms)
        if self.running is not None:
            yield from (handle.name for handle in self.running[0].handles)

    return [(Materializer, "poll", mutated)]


def _forgotten_commits() -> list[Replacement]:
    recover = Commits.recover

    def mutated(self: Any, metadata: Any, **keywords: Any) -> None:
        recover(self, metadata and replace(metadata, committables={}), **keywords)

    return [(Commits, "recover", mutated)]


def _overlooked_error() -> list[Replacement]:
    finish = Checkpoints._finish

    def mutated(self: Any, request: Any, reports: Any, *rest: Any) -> Any:
        return finish(self, request, [replace(report, snapshot_error="") for report in reports], *rest)

    return [(Checkpoints, "_finish", mutated)]


def _overlooked_checkpoint() -> list[Replacement]:
    every, read = recovery.all_checkpoints, metadata_module.read

    def lenient(store: Any, directory: str = "") -> Any:
        try:
            return read(store, directory)
        except OSError as error:
            raise CorruptCheckpointError(directory, str(error)) from None

    def mutated(store: Any, damaged: Any = None) -> Any:
        with patch.object(metadata_module, "read", lenient):
            return list(every(store, damaged))

    return [(recovery, "all_checkpoints", mutated)]


def _more_after_the_end() -> list[Replacement]:
    def mutated(self: Any, timestamp: int) -> None:
        if timestamp == MAX_TIMESTAMP:
            self.output.emit_watermark(timestamp)
            self.output.emit_watermark(self.max_timestamp)

    return [(TimestampsAndWatermarksOperator, "process_watermark", mutated)]


def _merged_backwards() -> list[Replacement]:
    to_merge = pieces.to_merge
    return [(pieces, "to_merge", lambda handles: to_merge(handles)[::-1])]


def _last_changes_unlogged() -> list[Replacement]:
    report = Subtask._report

    def mutated(self: Any, *rest: Any) -> Any:
        if self.finished:
            self.state.log = lambda instruction, _version: instruction.handles
        return report(self, *rest)

    return [(Subtask, "_report", mutated)]


def _ended_for_good() -> list[Replacement]:
    def mutated(self: Any, label: Any) -> tuple[int, bool]:
        uid, tag, sender, _ = label
        marks = self.channels.get((uid, tag), {}).get(sender)
        return min(marks) if marks else (MIN_TIMESTAMP, False)

    return [(RestoredOperator, "_mark", mutated)]


def _writers_of_one() -> list[Replacement]:
    recover = SinkOperator.recover

    def mutated(self: Any, states: Any, subtask: int, parallelism: int, *, same: bool) -> None:
        own = states if same else [states[min(subtask, len(states) - 1)]]
        recover(self, own, subtask, parallelism, same=True)

    return [(SinkOperator, "recover", mutated)]


def _first_attempt_counts() -> list[Replacement]:
    def mutated(self: Any, node: int) -> None:
        self.committers[node].commit(self.pending.pop(node))

    return [(Commits, "_commit", mutated)]


def _appends_that_set() -> list[Replacement]:
    apply = Table.apply

    def mutated(self: Any, change: Any) -> None:
        keys = [*change.keys, *(key for key, _ in change.appended)]
        values = [*change.values, *(elements for _, elements in change.appended)]
        apply(self, change._replace(keys=keys, values=values, appended=()))

    return [(Table, "apply", mutated)]


def _appends_that_repeat() -> list[Replacement]:
    changes = Table.changes

    def mutated(self: Any) -> Any:
        change = changes(self)
        return change._replace(appended=[(key, self.values[key]) for key, _ in change.appended])

    return [(Table, "changes", mutated)]


def _input_forgotten() -> list[Replacement]:
    leave = StreamingInput._leave

    def leave_unseen(self: Any, *args: Any) -> None:
        leave(self, *args)
        self.left.clear()

    return [(StreamingInput, "_leave", leave_unseen)]


def _pending_forgotten() -> list[Replacement]:
    return [(SourceOperator, "snapshot", lambda self: (self.splits, self.finished))]


MUTATIONS: dict[str, Callable[[], list[Replacement]]] = {
    "sinks commit before the metadata is written": _early_commits,
    "the metadata is written before the state": _early_metadata,
    "files are neither synced nor renamed": _no_sync,
    "directories are not synced": _sync_but_no_directory,
    "a cached subtask of an old version is used": _stale_cache,
    "input that had to wait is forgotten": _input_forgotten,
    "what a source has read and not emitted is not part of its state": _pending_forgotten,
    "a base is restored without its changes": lambda: _catching_up(lambda handles: handles[:1]),
    "changes are applied in the wrong order": lambda: _catching_up(lambda handles: handles[::-1]),
    "the changes of several epochs are merged in the wrong order": _merged_backwards,
    "a checkpoint refers to the base alone": lambda: _log_pieces(lambda handles: handles[:1]),
    "a checkpoint does not refer to the last changes": lambda: _log_pieces(lambda handles: handles[:-1] or handles),
    "shared files that are needed are deleted": lambda: [(Checkpoints, "needed_files", lambda self: set())],
    "old state is deleted before the checkpoint that refers to it is complete": _deleted_too_early,
    "what is to be committed is not in the checkpoint": lambda: [(Commits, "by_uid", lambda self: {})],
    "commits are not repeated": _forgotten_commits,
    "commits that are asked to be tried again are not": _first_attempt_counts,
    "the state of a sink's writers goes to those of the same number": _writers_of_one,
    "enumerators start from the beginning": lambda: [(Sources, "_restore", lambda self, metadata: None)],
    "splits are dealt twice": _split_dealt_twice,
    "the key groups of a subtask are off by one": _off_by_one,
    "the changelog is truncated before the base is there": _truncated_early,
    "what was added to a list replaces it": _appends_that_set,
    "a list that was added to is added to itself": _appends_that_repeat,
    "timers are not restored": lambda: [(InternalTimerService, "apply", lambda self, changes: None)],
    "a subtask that could not write is overlooked": _overlooked_error,
    "a checkpoint that cannot be read is overlooked": _overlooked_checkpoint,
    "a watermark follows the end": _more_after_the_end,
    "the last changes of a subtask are not logged": _last_changes_unlogged,
    "what had ended gets no more work": _ended_for_good,
}


@contextmanager
def mutated(name: str) -> Iterator[None]:
    """Apply a mutation inside the block."""
    with ExitStack() as stack:
        for target, attribute, value in MUTATIONS[name]():
            stack.enter_context(patch.object(target, attribute, value))
        yield
