"""Jobs of a program that is restarted until it succeeds (``flintstream run --resume``).

A job deletes its checkpoints when it ends. If its process were killed right after that, the restarted program would
find no checkpoint, and the job would run and write its output a second time. Therefore the record that a job has ended
stays until its program has succeeded. In a program with several jobs, the jobs that have ended do not run again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_deletions: dict[str, Callable[[], None]] | None = None


def begin() -> None:
    """Keep the records of ended jobs from now on."""
    global _deletions  # noqa: PLW0603 - a process runs one program
    _deletions = {}


def end(*, well: bool) -> None:
    """Note the end of the program. If it went ``well``, delete the records of its jobs."""
    global _deletions
    deletions, _deletions = _deletions or {}, None
    if well:
        for delete in deletions.values():
            delete()


def remembers() -> bool:
    """Return whether the record of an ended job must be kept."""
    return _deletions is not None


def is_over(job_name: str) -> bool:
    """Return whether this process has run a job with this name to its end."""
    return job_name in (_deletions or {})


def forget(job_name: str, delete: Callable[[], None]) -> None:
    """Call ``delete``, which deletes the record of an ended job, as soon as the record is not needed, maybe now."""
    if _deletions is None:
        delete()
    else:
        _deletions[job_name] = delete
