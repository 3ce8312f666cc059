"""The running jobs of this user on this machine: a directory with one file per job that says how to reach it.

The directory is ``$FLINTSTREAM_JOBS_DIR``, or else ``flintstream/jobs`` below the user's cache directory
(``XDG_CACHE_HOME``). Only the user can read its files, as they hold the keys that give access to the jobs.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.common._text.strict_json import json_text
from flintstream.errors import FlintstreamError
from flintstream.storage.private import is_private, make_private

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = "FLINTSTREAM_JOBS_DIR"
SOCKET_DIRECTORY, SOCKET = "flintstream-control-", "socket"
"""The beginning of the name of a directory for the socket of a job, and the name of the socket in it."""
LONGEST_ENTRY = 1 << 16
LATEST_MS = 253_402_300_800_000
"""The year 10000."""

_log = logging.getLogger(__name__)
_warned: set[tuple[Path, str]] = set()


@dataclass(frozen=True)
class Entry:
    """A running job as other processes see it."""

    job_id: str
    name: str
    pid: int
    host: str
    """The machine, as several machines may share a home directory."""
    started_ms: int
    address: str
    """The path of its Unix domain socket."""
    key: str
    """The secret that a caller must know, in hexadecimal."""


def host() -> str:
    """Return the name of this machine."""
    return socket.gethostname()


def directory() -> Path:
    """Return the directory of the entries. It may not exist yet."""
    given = os.environ.get(DIRECTORY)
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "flintstream" / "jobs"


def add(entry: Entry) -> None:
    """Register a job.

    Raises:
        OSError: The directory cannot be created or written to.
        PermissionError: Other users may write to the directory.
    """
    write(_path(entry).name, json_text(asdict(entry)))


def write(name: str, content: str) -> Path:
    """Write a file of the directory, which only this user can read, and return its path.

    Raises:
        OSError: The directory cannot be created or written to.
        PermissionError: Other users may write to the directory.
    """
    place = directory()
    make_private(place)
    temporary = place / f".{name}.{os.getpid()}.part"
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(content)
    return temporary.replace(place / name)


def remove(entry: Entry) -> None:
    """Remove a job that has ended or whose process is gone."""
    with contextlib.suppress(OSError):
        _path(entry).unlink()
    address = Path(entry.address)
    if address.name != SOCKET or not address.parent.name.startswith(SOCKET_DIRECTORY):
        return  # not a file of ours, whatever the entry says
    with contextlib.suppress(OSError):
        address.unlink()
    with contextlib.suppress(OSError):  # not empty, unless the control channel created it
        address.parent.rmdir()


def entries() -> list[Entry]:
    """Return the running jobs of this machine, oldest first. Remove entries whose processes are gone."""
    found = []
    for entry in _all():
        if entry.host != host():
            continue
        if _lives(entry.pid):
            found.append(entry)
        else:
            remove(entry)
    return sorted(found, key=lambda entry: (entry.started_ms, entry.job_id))


class AmbiguousJobError(FlintstreamError):
    """More than one running job has a name or the beginning of an id."""


def find(job: str) -> Entry:
    """Return the job with this id, name or prefix of an id.

    Raises:
        AmbiguousJobError: More than one job matches.
        FlintstreamError: No job matches.
    """
    known = entries()
    for what, matches in (
        ("has the id", [entry for entry in known if entry.job_id == job]),
        ("is called", [entry for entry in known if entry.name == job]),
        ("has an id that begins with", [entry for entry in known if job and entry.job_id.startswith(job)]),
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            ids = ", ".join(entry.job_id for entry in matches)
            raise AmbiguousJobError(f"more than one running job {what} '{job}': {ids}")
    raise FlintstreamError(f"no running job has the id or name '{job}'; 'flintstream list' shows them")


def _path(entry: Entry) -> Path:
    return directory() / f"{entry.job_id}.json"


def _all() -> Iterator[Entry]:
    for path in files(directory()):
        told = content(path, LONGEST_ENTRY)
        if told is None:
            continue
        try:
            yield _check_entry(Entry(**told), path)
        except (ValueError, TypeError) as error:  # foreign, or of another release
            warn_of(path, str(error))


def _check_entry(entry: Entry, path: Path) -> Entry:
    kinds = {name: type(value) for name, value in vars(entry).items()}
    if kinds != {**dict.fromkeys(kinds, str), "pid": int, "started_ms": int} or path.stem != entry.job_id:
        raise TypeError("it is not the entry of a job")
    if not 0 < entry.pid < 1 << 31 or not 0 <= entry.started_ms < LATEST_MS:
        raise ValueError("it does not name a process")
    bytes.fromhex(entry.key)
    return entry


def files(place: Path) -> list[Path]:
    """Return the JSON files in a directory of this user; none if other users can write to it, which is logged once.

    The files say what to connect to and what to remove, so other users must not be able to write them.
    """
    try:
        if is_private(place.stat()):
            return sorted(place.glob("*.json"))
    except OSError:
        return []
    warn_of(place, "other users can write to it, or it belongs to another user")
    return []


def content(path: Path, longest: int) -> Any:
    """Return what a JSON file of this user says. None if it cannot be read, which is logged once.

    Args:
        path: the file.
        longest: its greatest size (bytes).
    """
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or not is_private(status) or status.st_size > longest:
            warn_of(path, f"it must be a file of at most {longest:,} bytes that only you can write")
            return None
        told = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: None)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        warn_of(path, f"{getattr(error, 'strerror', None) or error}")
        return None
    if told is None:
        warn_of(path, "it is empty")
    return told


def warn_of(path: Path, fault: str) -> None:
    """Log that a file is ignored, and why; only once in a process."""
    if (path, fault) not in _warned:
        _warned.add((path, fault))
        _log.warning("%s is ignored: %s", path, fault)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user has the pid now
        return False
    return True
