"""The place that a path stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.files.file_systems import is_remote
from flintstream.connectors.files.places import LocalPlace
from flintstream.connectors.files.remote_place import RemotePlace

if TYPE_CHECKING:
    from flintstream.connectors.files.places import Place


def place_of(base: str) -> Place:
    """Return the place of an absolute path, or of the URI of another file system.

    >>> place_of("/data/out").base
    '/data/out'
    """
    return RemotePlace(base) if is_remote(base) else LocalPlace(base)
