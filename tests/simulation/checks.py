"""What must hold, whatever happens."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.simulation.program import KEY_GROUPS, LATER, STATEFUL, WINDOW, by_key, expected, flat
from tests.simulation.world import Violation

from flintstream.checkpoint.metadata import METADATA
from flintstream.coordinator.recovery import restore_plan
from flintstream.runtime.keys import key_group, subtask_of_key_group
from flintstream.runtime.protocol import SHARED
from flintstream.runtime.statelog import MemoryStateLog
from flintstream.runtime.subtask import Subtask

if TYPE_CHECKING:
    from tests.simulation.program import Record
    from tests.simulation.runner import SimWorld

    from flintstream.coordinator.checkpoints import Completed
    from flintstream.coordinator.coordinator import Coordinator


def check_output(world: SimWorld, rows: Counter[Any], *, exactly_once: bool) -> None:
    """Every result was committed, and, if the mode promises it, only once."""
    rows = flat(rows)
    wanted = expected(world.program, world.records("main"), world.records("side"))
    if not exactly_once:
        # A record that comes again may find itself in a window or in the state of another time: it is there.
        rows = Counter(dict.fromkeys(rows, 1))
        wanted = Counter(dict.fromkeys(wanted, 1))
        rows = rows & wanted
    if rows != wanted:
        raise Violation(f"lost: {dict(wanted - rows)}, too much: {dict(rows - wanted)}")


def check_files(coordinator: Coordinator, world: SimWorld) -> None:
    """No file is gone that a retained checkpoint needs."""
    visible = world.disk.visible
    for completed in coordinator.checkpoints.completed:
        store: Any = completed.store
        root = f"{store.root}/"
        for path in (*completed.metadata.paths(), f"{completed.directory}/{METADATA}"):
            if root + path.lstrip("/") not in visible:
                raise Violation(f"{root + path}, which checkpoint {completed.metadata.number} needs, is gone")


def check_left_over(coordinator: Coordinator, world: SimWorld) -> None:
    """A job that has finished leaves nothing behind, but for what could not be deleted or came late."""
    if {"delete", "outage", "zombie"} & set(world.happened):
        return
    root = f"checkpoints/{coordinator.plan.job_id}/"
    left = [path for path in world.disk.visible if path.startswith(root)]
    if left:
        raise Violation(f"left behind: {left}")


def check_restorable(coordinator: Coordinator, world: SimWorld) -> None:
    """Restore every retained checkpoint and compare it with what the input read so far must have led to."""
    world.calm = True
    now = world.now
    try:
        for completed in coordinator.checkpoints.completed:
            if not completed.metadata.finished:
                _check_restored(coordinator, completed, world)
    finally:
        world.calm = False
        world.now = now


def _check_restored(coordinator: Coordinator, completed: Completed, world: SimWorld) -> None:
    plan = coordinator.plan
    restore = restore_plan(completed, plan, allow_non_restored=False)
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
    """Return what the source of this name had read."""
    from flintstream.checkpoint import codec  # noqa: PLC0415

    if name not in completed.metadata.enumerators:
        return []
    found, _ = codec.decode_one(completed.metadata.enumerators[name])
    ends = [len(split) if number < found else 0 for number, split in enumerate(world.inputs[name])]
    seen = set()
    for subtask in subtasks:
        for node in subtask.chain.nodes:
            if node.uid == name:
                for split in subtask.operators[node.id].splits:  # type: ignore[attr-defined]
                    if split.split_id in seen:
                        raise Violation(f"split {split.split_id} of {name} was restored twice")
                    seen.add(split.split_id)
                    ends[int(split.split_id)] = split.position
    return [r for end, split in zip(ends, world.inputs[name], strict=True) for r in split[:end]]


def _check_state(subtasks: list[Subtask], read: dict[str, list[Record]], world: SimWorld, what: str) -> None:
    tables: dict[str, dict[Any, Any]] = {}
    timers: dict[str, set[Any]] = {"event": set(), "processing": set()}
    for subtask in subtasks:
        for node in subtask.chain.nodes:
            if node.uid != STATEFUL[world.program]:
                continue
            operator = subtask.operators[node.id]
            assert operator.context.state is not None
            assert operator.context.timers is not None
            parallelism = subtask.chain.parallelism
            for change in operator.context.state.take_snapshot():
                depth = (change.table.kind == "map") + change.table.namespaced
                for place, value in zip(change.keys, change.values, strict=True):
                    key = place
                    for _ in range(depth):
                        key = key[0]
                    if subtask_of_key_group(key_group(key, KEY_GROUPS), parallelism, KEY_GROUPS) != subtask.index:
                        raise Violation(f"{what}: key {key} is in subtask {subtask.index}")
                    tables.setdefault(change.table.name, {})[place] = value
            for name, queue in (("event", operator.context.timers.event), ("processing", operator.context.timers.processing)):
                for timestamp, key, _ in queue.registered:
                    timers[name].add((key, timestamp))
            if world.program == "rules":
                rules = {number: 1 for number, _, _ in read["side"]}
                held = operator.states.snapshot()  # type: ignore[attr-defined]
                if held.get("rules", {}) != rules:
                    raise Violation(f"{what}: broadcast state {held}, not {rules}")
    main = by_key(read["main"])
    if world.program != "windows":
        _compare(what, "counts", tables.get("count", {}), {key: len(records) for key, records in main.items()})
    if world.program == "tally":
        numbers = {key: sorted(number for number, _, _ in records) for key, records in main.items()}
        _compare(what, "lists", {key: sorted(v) for key, v in tables.get("seen", {}).items()}, numbers)
        _compare(what, "sums", tables.get("total", {}), {key: sum(several) for key, several in numbers.items()})
        due = {(key, number): timestamp + LATER for number, key, timestamp in read["main"]}
        for name in timers:
            waiting = {(key, timestamp) for (key, _), timestamp in tables.get(name, {}).items()}
            own = {timer for timer in timers[name] if timer[1] < 10**12 or name != "event"}
            _compare(what, f"{name} timers", own, waiting)
        wrong = tables.get("event", {}).items() - due.items()
        if wrong:
            raise Violation(f"{what}: timers of no record: {wrong}")


def _compare(what: str, name: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise Violation(f"{what}: {name} {found}, not {wanted}")
