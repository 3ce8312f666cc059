"""Which backend keeps the state of a job, and how."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - a dataclass's annotations may be evaluated
from dataclasses import dataclass, field, replace
from typing import Any

from flintstream.options.state import BACKEND, CHANGELOG


@dataclass(frozen=True)
class StateSettings:
    """What the tasks need to know; plain data but for a user's own factory."""

    backend: str = BACKEND.default
    """``hashmap``, ``rocksdb`` or ``custom``."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The keys of the configuration that concern state."""
    factory: Any = None
    """The options factory of RocksDB, or what makes a custom backend."""
    changelog: bool = CHANGELOG.default

    def of(self, backend: str) -> StateSettings:
        """Return the settings for another backend."""
        return replace(self, backend=backend)
