"""Where savepoints may go that are requested by REST: into the directories that the settings of the job name."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from flintstream.errors import FlintstreamError
from flintstream.options.checkpointing import SAVEPOINT_DIRECTORY, SAVEPOINT_TARGETS
from flintstream.rest.records import RefusedError, record_of
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.rest.replies import Record


def checked_target(job: str, given: str) -> str:
    """Return the directory for a savepoint in its normal form.

    Raises:
        RefusedError: There is no such job, or its settings do not name the directory or one above it.
    """
    try:
        target = Location.parse(given)
    except FlintstreamError as error:
        raise RefusedError(400, str(error)) from None
    if not any(
        _contains(allowed, target) for allowed in _allowed_targets(record_of(job, "checkpoints", "configuration"))
    ):
        raise RefusedError(
            403,
            f"savepoints requested here must go below the directories of the job: add {target} to "
            f"'{SAVEPOINT_TARGETS.key}', set '{SAVEPOINT_DIRECTORY.key}', or use 'flintstream savepoint'",
        )
    return str(target)


def _allowed_targets(record: Record) -> Iterator[Location]:
    settings = record["checkpoints"].get("settings") or {}
    if settings.get("savepoint_directory"):
        yield Location.parse(settings["savepoint_directory"])
    if settings.get("directory"):
        own = Location.parse(settings["directory"])
        yield replace(own, path=own.path.removesuffix(f"/{record['job_id']}") or "/")
    for more in record["configuration"].get(SAVEPOINT_TARGETS.key, "").split(";"):
        if more.strip():
            yield Location.parse(more.strip())


def _contains(allowed: Location, target: Location) -> bool:
    """Tell whether ``target`` is a directory or below it, with the links of this machine followed.

    >>> _contains(Location.parse("s3://bucket/a"), Location.parse("s3://bucket/a/b"))
    True
    >>> _contains(Location.parse("s3://bucket/a"), Location.parse("s3://bucket/ab"))
    False
    """
    if (allowed.scheme, allowed.authority) != (target.scheme, target.authority):
        return False
    paths = [allowed.path, target.path]
    if allowed.is_local:
        paths = [os.path.realpath(path) for path in paths]
    return PurePosixPath(paths[1]).is_relative_to(paths[0])
