"""Files of a job's checkpoints that someone has deleted under the running job."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flintstream.checkpoint.metadata import METADATA
from flintstream.runtime.protocol import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.coordinator.checkpointing.completed import Completed
    from flintstream.runtime.protocol import StateHandle
    from flintstream.storage.file_store import FileStore

_log = logging.getLogger(__name__)


class Losses:
    """What is known to be gone, so that later checkpoints do not refer to it."""

    def __init__(self, *, logged: bool) -> None:
        """Know of no loss. ``logged`` tells whether checkpoints refer to changelogs."""
        self.logged = logged
        self.checkpoint = 0
        """The number of the newest checkpoint whose files are known to be gone."""
        self.log = False
        """Whether files of the changelogs are gone, so that the next epoch starts new ones."""

    def look(self, store: FileStore | None, latest: Completed | None, handles: Iterable[StateHandle]) -> None:
        """Look for all files that the next checkpoint may refer to: those of the latest one, and of the changelogs.

        That some files exist says nothing about the others: a directory can be deleted between two writes of an epoch.
        """
        paths = set(_paths(handles)) if self.logged and not self.log else set()
        if latest is not None and latest.own and latest.metadata.number > self.checkpoint:
            paths |= latest.metadata.paths() | {f"{latest.directory}/{METADATA}"}
        self._notice(store, latest, paths)

    def look_for_log(self, store: FileStore | None, latest: Completed | None, handles: Iterable[StateHandle]) -> bool:
        """Return whether files of a changelog have been deleted. If so, the next epoch writes all state again."""
        return self._notice(store, latest, set(_paths(handles)))

    def _notice(self, store: FileStore | None, latest: Completed | None, paths: set[str]) -> bool:
        gone = None if store is None else _gone(store, paths)
        if store is None or gone is None:
            return False
        if not self.log:
            what = "the changelog" if self.logged else "the checkpoints"
            where = store.uri(gone)
            _log.warning("files of %s have been deleted, such as %s: all state is written again", what, where)
        self.log = self.logged
        if latest is not None:
            self.checkpoint = max(self.checkpoint, latest.metadata.number)
        return True


def _paths(handles: Iterable[StateHandle]) -> Iterable[str]:
    return (f"{SHARED}/{handle.name}" for handle in handles if handle.inline is None)


def _gone(store: FileStore, paths: set[str]) -> str | None:
    """Return one of the paths without a file. One list costs less than a request for each file."""
    try:
        missing = sorted(paths.difference(store.list(""))) if paths else []
        return next((path for path in missing if not store.exists(path)), None)
    except Exception:  # noqa: BLE001 - whatever a storage raises; it cannot be reached, and the next write shows why
        return None
