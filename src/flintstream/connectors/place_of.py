"""The place that a path stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.file_systems import is_remote
from flintstream.connectors.places import LocalPlace
from flintstream.connectors.remote_place import RemotePlace

if TYPE_CHECKING:
    from flintstream.connectors.places import Place


def place_of(base: str) -> Place:
    """Return the place of an absolute path, or of the URI of another file system.

    >>> place_of("/data/out").base
    '/data/out'
    """
    return RemotePlace(base) if is_remote(base) else LocalPlace(base)
