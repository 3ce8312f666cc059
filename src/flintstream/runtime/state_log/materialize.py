"""Materialization of a changelog: a base and the changes since then become a new base.

Materialization runs alongside the epochs, in a separate task that reads only the durable log, and does not involve the
subtask. It therefore does not delay checkpoints, and a restore reads at most one base and the changes between two
materializations.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from flintstream.checkpoint.checked_file import checked_file
from flintstream.checkpoint.pickles import refusing
from flintstream.checkpoint.state_file import StateFileWriter
from flintstream.runtime.keys import KeyGroups
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.protocol import StateHandle
from flintstream.runtime.state_log.pieces import open_handle
from flintstream.state.backend import loading
from flintstream.state.factory import create_backend
from flintstream.storage.local import again_if_deleted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.runtime.plan import ChainPlan
    from flintstream.runtime.state_log.log import DurableStateLog
    from flintstream.state.settings import StateSettings


def materialize(
    settings: StateSettings, log: DurableStateLog, chain: ChainPlan, subtask: int, handles: Sequence[StateHandle]
) -> StateHandle:
    """Write the state that ``handles`` add up to as one piece, and return its handle.

    Raises:
        OSError: The log cannot be read or written.
        CorruptCheckpointError: The log is damaged.
    """
    with refusing(settings.refuse_pickle):
        return again_if_deleted(lambda: _materialize(settings, log, chain, subtask, handles))


def _materialize(
    settings: StateSettings, log: DurableStateLog, chain: ChainPlan, subtask: int, handles: Sequence[StateHandle]
) -> StateHandle:
    name = f"{chain.id}-{subtask}-base-{uuid.uuid4().hex}"
    with log.create(name) as stream:
        writer = StateFileWriter(stream)
        kept = set()
        for node in chain.nodes:
            if not node.keyed:
                continue
            state = create_backend(settings, node.name, KeyGroups(chain.max_parallelism))
            timers = InternalTimerService()
            try:
                with loading(state):
                    for handle in handles:
                        known = log.uri(handle.name), handle.size, handle.checksum
                        with open_handle(log, handle) as piece, checked_file(piece, *known) as file:
                            for change in file.changes(node.uid):
                                (timers if change.table.kind == "timers" else state).apply((change,))
                for held in (state, timers):
                    for change in held.take_snapshot():
                        writer.write(node.uid, change)
                        kept.add(node.uid)
            finally:
                state.close()
        summary = writer.finish()
    last = handles[-1]
    return StateHandle(name, last.version, True, summary.size, summary.checksum, tuple(sorted(kept)))
