"""The place of a job's state log in a store that all workers reach."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from flintstream.runtime.state_log.log import log_in

if TYPE_CHECKING:
    from flintstream.runtime.state_log.log import StateLog
    from flintstream.storage.file_store import FileStore

__all__ = ["DEAD_SECONDS", "SIGNS", "LogPlace"]

SIGNS = "alive"
"""The directory with a file per running job, which holds the time (ms) of the latest sign of life of its driver."""

RENEW_SECONDS = 60.0

DEAD_SECONDS = 3600.0
"""A driver without a sign of life for this long is dead. Much longer than clocks of machines differ."""

_log = logging.getLogger(__name__)


class LogPlace:
    """A directory for the log of one start of a job.

    A killed driver leaves its log behind. The next start of the same job deletes it, as does any job that starts at the
    same place after :data:`DEAD_SECONDS`. If such a driver still lives after all, its job lacks files, so it fails and
    goes back to its latest checkpoint.
    """

    def __init__(self, root: FileStore, job_id: str) -> None:
        """Keep the log of a job below ``root``, which other jobs may use as well."""
        self._root = root
        self._job_id = job_id
        self._closed = threading.Event()

    def open(self, start: str) -> StateLog:
        """Return an empty log of this start of the job."""
        self._sweep()
        self._sign()
        threading.Thread(target=self._keep_signing, name=f"flintstream-log-{self._job_id}", daemon=True).start()
        return log_in(self._root.child(f"{self._job_id}/{start}"))

    def close(self) -> None:
        """Delete the log."""
        self._closed.set()
        self._delete(self._job_id)

    def _sweep(self) -> None:
        """Delete the logs of dead drivers: those of earlier starts of this job, and those without a sign of life."""
        self._delete(self._job_id)
        now = time.time()
        try:
            for job_id in self._root.list(SIGNS):
                signed = int(self._root.read(f"{SIGNS}/{job_id}")) / 1000
                if now - signed > DEAD_SECONDS:
                    self._delete(job_id)
        except Exception as error:  # noqa: BLE001 - whatever a storage raises; another start deletes the rest
            _log.warning("cannot look for old state in %s: %s", self._root.uri(""), error)

    def _delete(self, job_id: str) -> None:
        try:
            self._root.delete_tree(job_id)
            self._root.delete(f"{SIGNS}/{job_id}")
        except Exception as error:  # noqa: BLE001 - whatever a storage raises
            _log.warning("cannot delete old state in %s: %s", self._root.uri(job_id), error)

    def _sign(self) -> None:
        self._root.write(f"{SIGNS}/{self._job_id}", str(time.time_ns() // 1_000_000).encode())

    def _keep_signing(self) -> None:
        while not self._closed.wait(RENEW_SECONDS):
            try:
                self._sign()
            except Exception as error:  # noqa: BLE001 - whatever a storage raises; there is time for another attempt
                _log.warning("cannot write to %s: %s", self._root.uri(SIGNS), error)
