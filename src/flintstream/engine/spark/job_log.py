"""The state log of a running job: where its workers exchange keyed state, and what remains of that at its end."""

from __future__ import annotations

import pickle
import shutil
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from flintstream.checkpoint.settings import state_directory
from flintstream.engine.spark.log_place import LogPlace
from flintstream.errors import FlintstreamError
from flintstream.options.checkpointing import DIRECTORY, INTERVAL
from flintstream.options.execution import STATE_DIRECTORY
from flintstream.runtime.protocol import INSTRUCTION, SHARED
from flintstream.runtime.state_log.log import DirectoryStateLog, DurableStateLog, MemoryStateLog
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.plan import JobPlan
    from flintstream.runtime.state_log.log import StateLog
    from flintstream.storage.file_store import FileStore

__all__ = ["DELETED_AT_A_TIME", "JobLog", "epoch_of", "needs_log", "needs_place", "one_machine", "require_one_machine"]

DELETED_AT_A_TIME = 16
"""Number of files of a store that are deleted at the same time."""


class JobLog:
    """The state log of one start of a job."""

    def __init__(self, plan: JobPlan, configuration: Mapping[str, str], *, here: bool) -> None:
        """Open an empty log; ``here`` tells whether all workers share the directories of this machine."""
        self._place: LogPlace | None = None
        self._directory: str | None = None
        self.log = self._open(plan, configuration, here=here)

    def _open(self, plan: JobPlan, configuration: Mapping[str, str], *, here: bool) -> StateLog:
        if plan.settings.changelog is not None:
            return DurableStateLog(plan.settings.changelog, SHARED)
        if not needs_log(plan):
            return MemoryStateLog()
        if here and state_directory(configuration) is None:
            # Not below the checkpoints: a log that no other machine reads must not cost requests of a store.
            self._directory = tempfile.mkdtemp(prefix=f"flintstream-{plan.job_id[:8]}-")
            return DirectoryStateLog(self._directory)
        root = _log_root(plan, configuration)
        assert root is not None  # noqa: S101 - see needs_place()
        self._place = LogPlace(root, plan.job_id)
        return self._place.open(uuid.uuid4().hex)

    def forget(self, names: Sequence[str]) -> None:
        """Delete blobs that no later epoch needs."""
        if len(names) == 1 or isinstance(self.log, DirectoryStateLog):
            for name in names:
                self.log.delete(name)
            return
        with ThreadPoolExecutor(DELETED_AT_A_TIME) as pool:
            list(pool.map(self.log.delete, names))

    def close(self) -> None:
        """Delete what the log has written outside the changelog."""
        if self._place is not None:
            self._place.close()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
        self._place = self._directory = None


def _log_root(plan: JobPlan, configuration: Mapping[str, str]) -> FileStore | None:
    given = state_directory(configuration)
    return plan.settings.state_log if given is None else file_store(given)


def needs_place(plan: JobPlan, configuration: Mapping[str, str]) -> bool:
    """Tell whether the workers of a job exchange state, and no setting says where."""
    return needs_log(plan) and _log_root(plan, configuration) is None


def require_one_machine(master: str) -> None:
    """Check that all workers share this machine's directories, because no setting names another place for state.

    Raises:
        FlintstreamError: They may be on other machines.
    """
    if not one_machine(master):
        raise FlintstreamError(
            f"on the cluster {master}, workers exchange keyed state through files: set '{STATE_DIRECTORY.key}', or "
            f"'{DIRECTORY.key}' and '{INTERVAL.key}', to a directory that all of them can reach, such as "
            "s3://bucket/directory"
        )


def needs_log(plan: JobPlan) -> bool:
    """Tell whether workers exchange keyed state between the epochs of a job outside its changelog."""
    keyed = any(node.keyed for chain in plan.chains for node in chain.nodes)
    return keyed and not plan.batch and plan.settings.changelog is None


def one_machine(master: str) -> bool:
    """Tell whether all workers of a master share this machine's directories."""
    return master.startswith("local") or any(host in master for host in ("//127.0.0.1", "//localhost"))


def epoch_of(items: Sequence[Item]) -> int | None:
    """Return the number of the epoch that has these items; None if they have no instruction."""
    return next((pickle.loads(item.payload).epoch for item in items if item.edge == INSTRUCTION), None)
