"""Where Flink is (``pyflink.find_flink_home``)."""

from __future__ import annotations

import os
from pathlib import Path

__all__: list[str] = []


def _find_flink_home() -> str:
    """Return ``FLINK_HOME``, by default the directory of this package, which has no jars in its ``lib``."""
    return os.environ.setdefault("FLINK_HOME", str(Path(__file__).parent))


def _find_flink_source_root() -> str:
    """Refuse: there are no sources of Flink.

    Raises:
        FileNotFoundError: Always.
    """
    raise FileNotFoundError("there are no sources of Flink behind flintstream")
