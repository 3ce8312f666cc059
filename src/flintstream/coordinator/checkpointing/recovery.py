"""Recovery: find a checkpoint or savepoint to start from, and assign its state to the operators of a program."""

from __future__ import annotations

import json
import logging
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.checkpoint import metadata as checkpoint_metadata
from flintstream.checkpoint.metadata import METADATA
from flintstream.coordinator import program, registry
from flintstream.coordinator.checkpointing.completed import Completed
from flintstream.errors import CheckpointError, CorruptCheckpointError
from flintstream.options.checkpointing import DIRECTORY, INTERVAL, RESUME
from flintstream.runtime.protocol import Restore
from flintstream.storage.location import Location
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flintstream.checkpoint.settings import CheckpointSettings
    from flintstream.common.configuration import Configuration
    from flintstream.runtime.plan import ChainPlan, ExchangeEdge, JobPlan
    from flintstream.storage.file_store import FileStore

_log = logging.getLogger(__name__)


def load(path: str) -> Completed:
    """Open a checkpoint or savepoint.

    Args:
        path: its directory, or the file ``_metadata`` in it.

    Raises:
        PlanError: ``path`` is not a path or URI.
        CheckpointError: There is no checkpoint or savepoint at the path.
        CorruptCheckpointError: It is damaged. The message names the newest good checkpoint in the same directory.
    """
    location = Location.parse(path, "the path of a checkpoint or savepoint")
    path = os.path.realpath(location.path) if location.is_local else str(location)
    directory = path.removesuffix(f"/{METADATA}")
    parent, _, name = directory.rpartition("/")
    try:
        metadata = checkpoint_metadata.read(file_store(directory))
    except FileNotFoundError:
        raise CheckpointError(
            f"there is no checkpoint or savepoint at {path}: no file {METADATA}{_hint(parent, name)}"
        ) from None
    except CorruptCheckpointError as error:
        raise CorruptCheckpointError(error.path, f"{error.what}{_hint(parent, name)}") from None
    if metadata.depth:
        return Completed(metadata, file_store(parent or "/"), name, own=False)
    return Completed(metadata, file_store(directory), "", own=False)


def resolve_restore_path(
    settings: CheckpointSettings, configuration: Configuration, job_name: str, *, batch: bool
) -> CheckpointSettings:
    """Return the settings with the path to start from if the job should resume (``flintstream.resume``).

    The path is that of the newest checkpoint of a job with this name. The job continues that job: it has the same id
    and the same directory, and deletes the checkpoints there as if it had written them. Without a checkpoint the job
    starts from the beginning, and so does one in BATCH mode, which has none.

    Raises:
        CheckpointError: No directory for checkpoints is set, the job is still running, or the same program has already
            run a job with this name.
        CorruptCheckpointError: The newest checkpoint is damaged. Output since an older one may be committed.
    """
    if settings.restore_path is not None or not configuration.get(RESUME):
        return settings
    if batch:
        _log.info("'%s' runs in BATCH mode, which has no checkpoints: the job starts from the beginning", job_name)
        return settings
    if settings.storage is None:
        raise CheckpointError(
            f"'{RESUME.key}' is set (--resume), but there is no directory to look for checkpoints: set "
            f"'{DIRECTORY.key}' and '{INTERVAL.key}'"
        )
    if program.is_over(job_name):
        raise CheckpointError(
            f"'{RESUME.key}' (--resume) identifies jobs by their names, but the program runs a second job named "
            f"'{job_name}': give each job a different name, as in env.execute('name')"
        )
    damaged: dict[str, CorruptCheckpointError] = {}
    found = newest(settings.storage, job_name, damaged=damaged)
    for directory, error in damaged.items():
        if _overtakes(directory, found, settings.storage, job_name):
            where = "" if found is None else f"; the last good checkpoint is {found.where}"
            raise CorruptCheckpointError(
                error.path,
                f"{error.what}{where}. A start from an older checkpoint, or from the beginning, repeats committed "
                "output. If that is acceptable, pass the path of the older one (-s), or move the damaged one away",
            )
    if found is None:
        where = settings.storage.uri("")
        _log.warning("there is no checkpoint of '%s' in %s yet: the job starts from the beginning", job_name, where)
        return settings
    job_id = found.metadata.job_id
    _check_lost(job_id, job_name)
    if found.metadata.finished and not found.metadata.committables:
        _log.warning("'%s' has already ended according to %s and does not run again", job_name, found.where)
    else:
        _log.info("'%s' continues from %s", job_name, found.where)
    assert found.store is not None  # noqa: S101 - it was found in one
    in_place = found.store.uri("") == settings.storage.child(job_id).uri("")
    return replace(settings, restore_path=found.where, resumed_job=job_id if in_place else None)


def _check_lost(job_id: str, job_name: str) -> None:
    until = time.monotonic() + 2  # a job that has just ended may still be sending its last replies
    while running := next((entry for entry in registry.entries() if entry.job_id == job_id), None):
        if time.monotonic() > until:
            raise CheckpointError(
                f"cannot resume '{job_name}', because it is still running in process {running.pid}: stop it first "
                f"(flintstream stop {job_id})"
            )
        time.sleep(0.02)


def _overtakes(directory: str, found: Completed | None, store: FileStore, job_name: str) -> bool:
    """Return whether a damaged checkpoint appears to be a later one of the job."""
    parent, _, name = directory.rpartition("/")
    if found is not None and found.store is not None and found.store.uri("") == (store.child(parent)).uri(""):
        return _number(name) > _number(found.directory)
    return found is None and json.dumps(job_name).encode() in store.read(f"{directory}/{METADATA}")


def _number(directory: str) -> int:
    number = directory.rpartition("/")[2].removeprefix("chk-")
    return int(number) if number.isdecimal() else -1


def newest(
    store: FileStore,
    job_name: str | None = None,
    but: str | None = None,
    damaged: dict[str, CorruptCheckpointError] | None = None,
) -> Completed | None:
    """Return the newest good checkpoint anywhere below a directory, of a job with this name if one is given.

    Checkpoints of one job are ordered by number, as clocks may be set back. The one in the directory ``but`` is left
    out. Errors of damaged checkpoints are added to ``damaged``.

    Raises:
        OSError: The storage cannot be read. Ignoring a checkpoint would repeat output.
    """
    latest: dict[str, Completed] = {}
    for checkpoint in all_checkpoints(store, damaged):
        of_job = job_name is None or checkpoint.metadata.job_name == job_name
        if of_job and checkpoint.directory != but:
            before = latest.get(checkpoint.metadata.job_id)
            if before is None or checkpoint.metadata.number > before.metadata.number:
                latest[checkpoint.metadata.job_id] = checkpoint
    return max(latest.values(), key=lambda value: (value.metadata.created_ms, value.metadata.number), default=None)


def all_checkpoints(
    store: FileStore | None, damaged: dict[str, CorruptCheckpointError] | None = None
) -> Iterator[Completed]:
    """Return the good checkpoints anywhere below a directory. Errors of the others are added to ``damaged``.

    Raises:
        OSError: The storage cannot be read.
    """
    if store is None:
        return
    found = set(store.list(""))
    for path in sorted(found):
        directory, _, name = path.rpartition("/")
        if name != METADATA:
            continue
        try:
            metadata = checkpoint_metadata.read(store, directory)
        except FileNotFoundError:  # deleted since the listing
            continue
        except CorruptCheckpointError as error:
            _log.warning("%s", error)
            if damaged is not None:
                damaged[directory] = error
            continue
        if metadata.purpose == "checkpoint":
            parent, _, last = directory.rpartition("/")
            needed = {f"{parent}/{name}" if parent else name for name in metadata.paths()}
            if not needed <= found:  # the job was lost while it deleted the checkpoint
                _log.warning("%s is incomplete: %s is missing", store.uri(directory), min(needed - found))
                continue
            yield Completed(metadata, store.child(parent) if parent else store, last, own=False)


def with_hint(error: CorruptCheckpointError, damaged: Completed) -> CorruptCheckpointError:
    """Return the error with the path of the newest good checkpoint in the directory of the damaged one."""
    parent, _, name = damaged.where.rpartition("/")
    return CorruptCheckpointError(error.path, f"{error.what}{_hint(parent, name)}")


def _hint(parent: str, damaged: str) -> str:
    """Return a hint that names the newest good checkpoint in a directory, or an empty string."""
    try:
        good = newest(file_store(parent), but=damaged) if parent else None
    except Exception:  # noqa: BLE001 - whatever a storage raises; the caller already reports an error
        good = None
    return "" if good is None else f"; the last good checkpoint is {good.where}"


def with_key_groups_of(completed: Completed, plan: JobPlan) -> JobPlan:
    """Return the plan with the checkpoint's numbers of key groups wherever the program sets none.

    Raises:
        CheckpointError: An operator has more subtasks than key groups.
    """
    old = {uid: info.max_parallelism for uid, (_, info) in completed.metadata.operators().items() if info.keyed}
    return with_key_groups(plan, old, completed.where)


def with_key_groups(plan: JobPlan, old: Mapping[str, int], where: str) -> JobPlan:
    """Return the plan with these numbers of key groups, by the uid of the operator, wherever the program sets none.

    Raises:
        CheckpointError: An operator has more subtasks than key groups. The message names ``where`` they are from.
    """

    def key_groups(chain: ChainPlan) -> int:
        if chain.key_groups_given:
            return chain.max_parallelism
        nodes = [node for node in chain.nodes if node.keyed and node.uid in old]
        for node in nodes:
            if chain.parallelism > (most := old[node.uid]):
                raise CheckpointError(
                    f"operator '{node.name}' has parallelism {chain.parallelism}, but {where} was written "
                    f"with the maximum parallelism {most}, which cannot be changed: lower set_parallelism()"
                )
        return old[nodes[0].uid] if nodes else chain.max_parallelism

    chains = {chain.id: key_groups(chain) for chain in plan.chains}

    def edges(of: tuple[ExchangeEdge, ...]) -> tuple[ExchangeEdge, ...]:
        return tuple(replace(edge, max_parallelism=chains[edge.target_chain]) for edge in of)

    def change(chain: ChainPlan) -> ChainPlan:
        inputs, outputs = edges(chain.inputs), edges(chain.outputs)
        return replace(chain, max_parallelism=chains[chain.id], inputs=inputs, outputs=outputs)

    steps = (replace(step, chains=tuple(map(change, step.chains))) for step in plan.supersteps)
    return replace(plan, supersteps=tuple(steps))


def restore_plan(completed: Completed, plan: JobPlan, settings: CheckpointSettings) -> Restore:
    """Match the state of a checkpoint with the operators of a program, by uid.

    Raises:
        CheckpointError: State would be left behind, or the key groups do not match.
    """
    metadata = completed.metadata
    old = metadata.operators()
    operators: dict[int, tuple[str, int]] = {}
    uids = set()
    unkeyed = []
    for chain in plan.chains:
        for node in chain.nodes:
            uids.add(node.uid)
            found = old.get(node.uid)
            if found is None:
                continue
            place, info = found
            operators[node.id] = (node.uid, place)
            if info.keyed and not node.keyed:
                unkeyed.append(node)
            if info.keyed and node.keyed and info.max_parallelism != chain.max_parallelism:
                raise CheckpointError(
                    f"operator '{node.name}' has the maximum parallelism {chain.max_parallelism}, but "
                    f"{completed.where} was written with {info.max_parallelism}, which cannot be changed: call "
                    f"set_max_parallelism({info.max_parallelism})"
                )
    stateful = {uid for piece in metadata.pieces() for uid in piece.operators}
    stateful |= {uid for uid, items in metadata.committables.items() if items} | metadata.enumerators.keys()
    lost = sorted(stateful - uids)
    if lost and not settings.allow_non_restored:
        names = ", ".join(f"'{old[uid][1].name}' (uid {uid})" if uid in old else uid for uid in lost)
        raise CheckpointError(
            f"{completed.where} holds state of {names}, but the program has no operator with that uid: give operators "
            "the uids they had (DataStream.uid), or allow state to be left behind (--allowNonRestoredState). The "
            "groups, windows and joins of a query keep their state while their keys, aggregates and column types stay "
            "the same"
        )
    for node in unkeyed:
        if node.uid in stateful and not settings.allow_non_restored:
            raise CheckpointError(
                f"{completed.where} holds keyed state of operator '{node.name}' (uid {node.uid}), which is not keyed "
                "in this program: put it after key_by() again, or give it another uid and allow state to be left "
                "behind (--allowNonRestoredState)"
            )
    return Restore(completed.store, metadata.chains, operators, settings.transfer_threads)
