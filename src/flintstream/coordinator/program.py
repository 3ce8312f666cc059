"""The program whose jobs these are, where somebody starts it again until it ends well (``flintstream run --resume``).

A job that is over deletes its checkpoints. Should the process be killed after that, and before it has ended, it would
be started again and find nothing: the job would run, and write, a second time. So what tells that a job is over stays
until its program has ended well; and of a program with several jobs, those that are over are not run again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_deletions: dict[str, Callable[[], None]] | None = None


def begin() -> None:
    """From now on, keep what tells that a job is over."""
    global _deletions  # noqa: PLW0603 - a process runs one program
    _deletions = {}


def end(*, well: bool) -> None:
    """The program has ended: unless somebody has to start it again, nothing needs to be known of its jobs."""
    global _deletions
    deletions, _deletions = _deletions or {}, None
    if well:
        for delete in deletions.values():
            delete()


def remembers() -> bool:
    """Tell whether it has to be known, after the end of a job, that it is over."""
    return _deletions is not None


def is_over(job_name: str) -> bool:
    """Tell whether a job of this name is over that this process has run."""
    return job_name in (_deletions or {})


def forget(job_name: str, delete: Callable[[], None]) -> None:
    """Delete what tells that a job is over as soon as that need not be known any more, which may be at once."""
    if _deletions is None:
        delete()
    else:
        _deletions[job_name] = delete
