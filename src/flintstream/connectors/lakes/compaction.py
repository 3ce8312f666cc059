"""When small files of tables are merged, and which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

_REWRITE = "flink-maintenance.rewrite."
_ENABLED = (f"{_REWRITE}enabled", "compaction-enabled")
_TARGET = "write.target-file-size-bytes"


@dataclass(frozen=True)
class Compaction:
    """When files are merged, and which."""

    commits: int = 10
    """How many commits of the sink lie between two attempts."""
    files: int = 5
    """The fewest files of a partition that are merged."""
    target_bytes: int = 512 << 20
    """The size of the files that are written; smaller ones than three quarters of it are merged."""
    most_bytes: int = 1 << 62
    """The most bytes that an attempt reads."""


def compaction_of(properties: Mapping[str, str]) -> Compaction | None:
    """Return what properties with the names of Iceberg's connector for Flink say; None if nothing is merged.

    >>> compaction_of({"write.format.default": "parquet"})
    >>> compaction_of({"flink-maintenance.rewrite.enabled": "true", "flink-maintenance.rewrite.min-input-files": "3"})
    Compaction(commits=10, files=3, target_bytes=536870912, most_bytes=4611686018427387904)

    Raises:
        PlanError: A number is none.
    """
    if not any(properties.get(key, "false").lower() == "true" for key in _ENABLED):
        return None
    return Compaction(
        _number(properties, f"{_REWRITE}schedule.commit-count", 10),
        _number(properties, f"{_REWRITE}min-input-files", 5),
        _number(properties, f"{_REWRITE}target-file-size-bytes", _number(properties, _TARGET, 512 << 20)),
        _number(properties, f"{_REWRITE}max-bytes", 1 << 62),
    )


def _number(properties: Mapping[str, str], key: str, default: int) -> int:
    text = properties.get(key, str(default))
    if not (text.isascii() and text.isdigit() and int(text)):
        raise PlanError(f"'{key}' must be a positive number, got '{text}'")
    return int(text)
