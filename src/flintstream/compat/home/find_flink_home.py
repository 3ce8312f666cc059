"""Location of Flink (``pyflink.find_flink_home``)."""

from __future__ import annotations

import os
from pathlib import Path

__all__: list[str] = []


def _find_flink_home() -> str:
    """Return ``FLINK_HOME``; by default the directory of this package, whose ``lib`` contains no jars."""
    return os.environ.setdefault("FLINK_HOME", str(Path(__file__).parent))


def _find_flink_source_root() -> str:
    """Raise an error: Flink's sources are not available.

    Raises:
        FileNotFoundError: Always.
    """
    raise FileNotFoundError("flintstream does not include Flink's sources")
