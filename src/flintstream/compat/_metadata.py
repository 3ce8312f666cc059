"""Metadata of PyFlink for ``importlib.metadata``, for when PyFlink is not installed."""

from __future__ import annotations

from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.compat.home.version import __version__

if TYPE_CHECKING:
    import os

__all__ = ["PyflinkDistribution"]


class PyflinkDistribution(Distribution):
    """PyFlink as an installed distribution.

    >>> PyflinkDistribution("apache-flink").version
    '2.3.0'
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        """Return the content of a metadata file; None if it does not exist."""
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: {self._name}\nVersion: {__version__}\n"

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        """Return the path of a file of PyFlink's packages."""
        return Path(__file__).parent / "home" / path
