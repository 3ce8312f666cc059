"""Finds a checkpoint or savepoint to start from, and deals what is in it to the operators of a program."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.checkpoint import metadata as checkpoint_metadata
from flintstream.checkpoint.file_store import file_store
from flintstream.checkpoint.metadata import METADATA
from flintstream.coordinator.checkpoints import Completed
from flintstream.errors import CheckpointError, CorruptCheckpointError
from flintstream.runtime.protocol import Restore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.checkpoint.file_store import FileStore
    from flintstream.checkpoint.settings import CheckpointSettings
    from flintstream.common.configuration import Configuration
    from flintstream.runtime.plan import ChainPlan, ExchangeEdge, JobPlan

RESUME = "flintstream.resume"

_log = logging.getLogger(__name__)


def load(path: str) -> Completed:
    """Open a checkpoint or savepoint.

    Args:
        path: its directory, or the file ``_metadata`` in it.

    Raises:
        CheckpointError: There is none.
        CorruptCheckpointError: It is damaged; the message names the newest good checkpoint beside it.
    """
    directory = path.rstrip("/").removesuffix(f"/{METADATA}")
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
    settings: CheckpointSettings, configuration: Configuration, job_name: str
) -> CheckpointSettings:
    """Return the settings with the path to start from, where the job is to be resumed (``flintstream.resume``).

    That is the newest good checkpoint of a job of this name. Without one the job starts from the beginning.

    Raises:
        CheckpointError: Checkpoints have no directory to look in.
    """
    if settings.restore_path is not None or not configuration.get_boolean(RESUME, False):
        return settings
    if settings.storage is None:
        raise CheckpointError(
            f"'{RESUME}' is set (--resume), but there is no directory to look for checkpoints: set "
            "'execution.checkpointing.dir' and 'execution.checkpointing.interval'"
        )
    found = newest(settings.storage, job_name)
    if found is None:
        where = settings.storage.uri("")
        _log.warning("there is no checkpoint of '%s' in %s yet: it starts from the beginning", job_name, where)
        return settings
    _log.info("'%s' goes on from %s", job_name, found.where)
    return replace(settings, restore_path=found.where)


def newest(store: FileStore, job_name: str | None = None, but: str | None = None) -> Completed | None:
    """Return the newest good checkpoint anywhere below a directory, of a job of this name if one is given.

    The one in the directory ``but`` is left out.

    Raises:
        OSError: The storage cannot be read. To overlook a checkpoint would be to repeat output.
    """
    named = (each for each in _all(store) if job_name is None or each.metadata.job_name == job_name)
    found = [each for each in named if each.directory != but]
    return max(found, key=lambda each: (each.metadata.created_ms, each.metadata.number), default=None)


def _all(store: FileStore) -> Iterator[Completed]:
    found = set(store.list(""))
    for path in sorted(found):
        directory, _, name = path.rpartition("/")
        if name != METADATA:
            continue
        try:
            metadata = checkpoint_metadata.read(store, directory)
        except FileNotFoundError:  # deleted just now
            continue
        except CorruptCheckpointError as error:
            _log.warning("%s", error)
            continue
        if metadata.kind == "checkpoint":
            parent, _, last = directory.rpartition("/")
            needed = {f"{parent}/{name}" if parent else name for name in metadata.paths()}
            if not needed <= found:  # it was being deleted when the job was lost
                _log.warning("%s is incomplete: %s is missing", store.uri(directory), min(needed - found))
                continue
            yield Completed(metadata, store.child(parent) if parent else store, last, own=False)


def with_hint(error: CorruptCheckpointError, damaged: Completed) -> CorruptCheckpointError:
    """Return the error with the name of the newest good checkpoint beside the damaged one."""
    parent, _, name = damaged.where.rpartition("/")
    return CorruptCheckpointError(error.path, f"{error.what}{_hint(parent, name)}")


def _hint(parent: str, damaged: str) -> str:
    """Name the newest good checkpoint in a directory."""
    try:
        good = newest(file_store(parent), but=damaged) if parent else None
    except (OSError, CheckpointError):
        good = None
    return "" if good is None else f"; the last good checkpoint is {good.where}"


def with_key_groups_of(completed: Completed, plan: JobPlan) -> JobPlan:
    """Return the plan with the numbers of key groups that a checkpoint was written with, where the program gives none.

    Raises:
        CheckpointError: A step has more subtasks than there are key groups.
    """
    old = {uid: info for uid, (_, info) in completed.metadata.operators().items() if info.keyed}

    def key_groups(chain: ChainPlan) -> int:
        if chain.key_groups_given:
            return chain.max_parallelism
        nodes = [node for node in chain.nodes if node.keyed and node.uid in old]
        for node in nodes:
            if chain.parallelism > (most := old[node.uid].max_parallelism):
                raise CheckpointError(
                    f"operator '{node.name}' has parallelism {chain.parallelism}, but {completed.where} was written "
                    f"with the maximum parallelism {most}, which cannot be changed: lower set_parallelism()"
                )
        return old[nodes[0].uid].max_parallelism if nodes else chain.max_parallelism

    chains = {chain.id: key_groups(chain) for chain in plan.chains}

    def edges(of: tuple[ExchangeEdge, ...]) -> tuple[ExchangeEdge, ...]:
        return tuple(replace(edge, max_parallelism=chains[edge.target_chain]) for edge in of)

    def changed(chain: ChainPlan) -> ChainPlan:
        inputs, outputs = edges(chain.inputs), edges(chain.outputs)
        return replace(chain, max_parallelism=chains[chain.id], inputs=inputs, outputs=outputs)

    steps = (replace(step, chains=tuple(map(changed, step.chains))) for step in plan.supersteps)
    return replace(plan, supersteps=tuple(steps))


def restore_plan(completed: Completed, plan: JobPlan, *, allow_non_restored: bool) -> Restore:
    """Match what a checkpoint holds with the operators of a program, by uid.

    Raises:
        CheckpointError: State would be left behind, or the key groups do not match.
    """
    metadata = completed.metadata
    old = metadata.operators()
    operators: dict[int, tuple[str, int]] = {}
    uids = set()
    for chain in plan.chains:
        for node in chain.nodes:
            uids.add(node.uid)
            found = old.get(node.uid)
            if found is None:
                continue
            place, info = found
            operators[node.id] = (node.uid, place)
            if info.keyed and node.keyed and info.max_parallelism != chain.max_parallelism:
                raise CheckpointError(
                    f"operator '{node.name}' has the maximum parallelism {chain.max_parallelism}, but "
                    f"{completed.where} was written with {info.max_parallelism}, which cannot be changed: call "
                    f"set_max_parallelism({info.max_parallelism})"
                )
    stateful = {uid for piece in metadata.pieces() for uid in piece.operators}
    stateful |= {uid for uid, items in metadata.committables.items() if items} | metadata.enumerators.keys()
    lost = sorted(stateful - uids)
    if lost and not allow_non_restored:
        names = ", ".join(f"'{old[uid][1].name}' (uid {uid})" if uid in old else uid for uid in lost)
        raise CheckpointError(
            f"{completed.where} holds state of {names}, but the program has no operator of that uid: give operators "
            "the uids they had (DataStream.uid), or allow state to be left behind (--allowNonRestoredState)"
        )
    return Restore(completed.store, metadata.chains, operators)
