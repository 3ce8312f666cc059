"""The invariants, which hold whatever faults occur."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.simulation.program import END, KEY_GROUPS, LATER, STATEFUL, by_key, expected, flat
from tests.simulation.world import ClusterFailure, UserFailure, Violation

from flintstream.checkpoint import codec
from flintstream.checkpoint.metadata import METADATA
from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.coordinator.checkpointing.recovery import restore_plan
from flintstream.errors import CheckpointError, CommitError, CorruptCheckpointError, JobCancelledError
from flintstream.runtime.keys import key_group, subtask_of_key_group
from flintstream.runtime.protocol import SHARED
from flintstream.runtime.state_log.log import MemoryStateLog
from flintstream.runtime.task.subtask import Subtask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulation.program import Record
    from tests.simulation.runner import SimWorld

    from flintstream.coordinator.attempt import Attempt
    from flintstream.coordinator.checkpointing.checkpoints import Checkpoints
    from flintstream.coordinator.checkpointing.completed import Completed
    from flintstream.runtime.plan import JobPlan


HARMLESS = frozenset({"user", "cache", "commit", "later", "engine", "slow"})
"""Kinds of faults after which no unneeded file remains."""


def check_output(world: SimWorld, rows: Counter[Any], *, exactly_once: bool) -> None:
    """Every result was committed, and, if the mode promises it, only once."""
    rows = flat(rows)
    wanted = expected(world.program, world.records("main"), world.records("side"))
    if not exactly_once:
        # A repeated record may be in another window, or meet state of another time: it only has to appear.
        rows = Counter(dict.fromkeys(rows, 1))
        wanted = Counter(dict.fromkeys(wanted, 1))
        rows = rows & wanted
    if rows != wanted:
        raise Violation(f"lost: {dict(wanted - rows)}, too much: {dict(rows - wanted)}")


def check_failure(error: Exception, world: SimWorld) -> None:
    """A job fails only because of injected faults, and no file that it reads is missing."""
    if isinstance(error, JobCancelledError):
        return
    injected = isinstance(error, OSError | CheckpointError | CommitError | UserFailure | ClusterFailure)
    missing = isinstance(error, FileNotFoundError | CorruptCheckpointError)
    if missing or not injected or not (world.happened or _expired(error)):
        raise Violation(f"the job failed: {type(error).__name__}: {error}") from error


def _expired(error: Exception) -> bool:
    """Return whether a checkpoint took too long, which may happen without a fault."""
    return isinstance(error, CheckpointError) and ("expired" in str(error) or "not complete after" in str(error))


def check_files(checkpoints: Checkpoints, world: SimWorld) -> None:
    """Every file that a retained checkpoint needs exists."""
    visible = world.disk.visible
    for completed in checkpoints.completed:
        store: Any = completed.store
        root = f"{store.root}/"
        for path in (*completed.metadata.paths(), f"{completed.directory}/{METADATA}"):
            if root + path.lstrip("/") not in visible:
                raise Violation(f"{root + path}, which checkpoint {completed.metadata.number} needs, is gone")


def check_orphans(attempt: Attempt, world: SimWorld) -> None:
    """Files do not accumulate: every file of the job serves a checkpoint or the next epoch."""
    if attempt.context.checkpoints.stopped or not HARMLESS.issuperset(world.happened):
        return
    root = f"checkpoints/{attempt.plan.job_id}/"
    wanted = {path for item in attempt.context.checkpoints.completed for path in item.metadata.paths()}
    wanted |= {f"{item.directory}/{METADATA}" for item in attempt.context.checkpoints.completed}
    reports = [state.report for state in attempt.subtasks.states.values() if state.report is not None]
    wanted |= {f"{SHARED}/{handle.name}" for report in reports for handle in report.handles}
    wanted |= {f"{SHARED}/{name}" for name in attempt.subtasks.obsolete}
    found = {path.removeprefix(root) for path in world.disk.visible if path.startswith(root)}
    orphans = {path for path in found - wanted if "-base-" not in path}  # one of which may be in progress
    if orphans:
        raise Violation(f"no checkpoint needs {sorted(orphans)}")


def check_left_over(checkpoints: Checkpoints, world: SimWorld) -> None:
    """A finished job leaves no files, except those that could not be deleted or were written late."""
    if {"delete", "outage", "zombie"} & set(world.happened):
        return
    root = f"checkpoints/{checkpoints.job_id}/"
    left = [path for path in world.disk.visible if path.startswith(root)]
    if left:
        raise Violation(f"left behind: {left}")


def check_restorable(attempt: Attempt, world: SimWorld) -> None:
    """Restore every retained checkpoint and compare it with the state expected from the input read so far."""
    world.calm = True
    now = world.now
    try:
        for completed in attempt.context.checkpoints.completed:
            if not completed.metadata.finished:
                _check_restored(attempt.plan, completed, world)
    finally:
        world.calm = False
        world.now = now


def _check_restored(plan: JobPlan, completed: Completed, world: SimWorld) -> None:
    restore = restore_plan(completed, plan, CheckpointSettings())
    subtasks = []
    for chain in plan.chains:
        for index in range(chain.parallelism):
            subtask = Subtask(plan, chain, index, MemoryStateLog())
            subtask.state.restore(restore)
            subtasks.append(subtask)
    try:
        read = {name: _read(subtasks, completed, name, world) for name in ("main", "side")}
        number = completed.metadata.number
        world.log(f"checkpoint {number} is restored: {read}")
        _check_state(subtasks, read, world, f"checkpoint {number}")
    finally:
        for subtask in subtasks:
            subtask.release()


def _read(subtasks: list[Subtask], completed: Completed, name: str, world: SimWorld) -> list[Record]:
    """Return the records that the source of this name had read."""

    if name not in completed.metadata.enumerators:
        return []
    found, _ = codec.decode_one(completed.metadata.enumerators[name])
    ends = [len(split) if number < found else 0 for number, split in enumerate(world.inputs[name])]
    seen = set()
    for _, operator in _operators(subtasks, name):
        for split in operator.splits:
            if split.split_id in seen:
                raise Violation(f"split {split.split_id} of {name} was restored twice")
            seen.add(split.split_id)
            ends[int(split.split_id)] = split.position
    for _, operator in _operators(subtasks, name):
        for split_id, waiting, _ in operator.pending:  # read, but not processed yet
            ends[int(split_id)] -= len(waiting)
    return [r for end, split in zip(ends, world.inputs[name], strict=True) for r in split[:end]]


def _held(subtasks: list[Subtask], uid: str, what: str) -> tuple[dict[str, dict[Any, Any]], dict[str, set[Any]]]:
    """Return the tables and timers of a keyed operator over all its subtasks."""
    tables: dict[str, dict[Any, Any]] = {}
    timers: dict[str, set[Any]] = {"event": set(), "processing": set()}
    for subtask, operator in _operators(subtasks, uid):
        for change in operator.context.state.take_snapshot():
            depth = (change.table.kind == "map") + change.table.namespaced
            for place, value in zip(change.keys, change.values, strict=True):
                key = place
                for _ in range(depth):
                    key = key[0]
                if (
                    subtask_of_key_group(key_group(key, KEY_GROUPS), subtask.chain.parallelism, KEY_GROUPS)
                    != subtask.index
                ):
                    raise Violation(f"{what}: key {key} is in subtask {subtask.index}")
                tables.setdefault(change.table.name, {})[place] = value
        for name, found in timers.items():
            found |= {(key, timestamp) for timestamp, key, _ in getattr(operator.context.timers, name).registered}
    return tables, timers


def _operators(subtasks: list[Subtask], uid: str) -> Iterator[tuple[Subtask, Any]]:
    for subtask in subtasks:
        for node in subtask.chain.nodes:
            if node.uid == uid:
                yield subtask, subtask.operators[node.id]


def _check_state(subtasks: list[Subtask], read: dict[str, list[Record]], world: SimWorld, what: str) -> None:
    uid = STATEFUL[world.program]
    tables, timers = _held(subtasks, uid, what)
    main = by_key(read["main"])
    if world.program == "rules":
        for _, operator in _operators(subtasks, uid):
            rules = operator.states.snapshot().get("rules", {})
            _compare(what, "rules", rules, dict.fromkeys((number for number, _, _ in read["side"]), 1))
    if world.program != "windows":
        _compare(what, "counts", tables.get("count", {}), {key: len(records) for key, records in main.items()})
    if world.program == "tally":
        numbers = {key: sorted(number for number, _, _ in records) for key, records in main.items()}
        _compare(what, "lists", {key: sorted(held) for key, held in tables.get("seen", {}).items()}, numbers)
        _compare(what, "sums", tables.get("total", {}), {key: sum(several) for key, several in numbers.items()})
        for name, found in timers.items():
            waiting = {(key, timestamp) for (key, _), timestamp in tables.get(name, {}).items()}
            _compare(what, f"{name} timers", {timer for timer in found if timer[1] != END}, waiting)
        due = {(key, number): timestamp + LATER for number, key, timestamp in read["main"]}
        _compare(what, "timers of no record", tables.get("event", {}).items() - due.items(), set())


def _compare(what: str, name: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise Violation(f"{what}: {name} {found}, not {wanted}")
