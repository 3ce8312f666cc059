"""Settings of the state backend of a job."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - a dataclass's annotations may be evaluated
from dataclasses import dataclass, field, replace
from typing import Any

from flintstream.options.state import BACKEND, CHANGELOG


@dataclass(frozen=True)
class StateSettings:
    """Settings that the tasks need. Plain data, except for a user's factory."""

    backend: str = BACKEND.default
    """``hashmap``, ``rocksdb`` or ``custom``."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The configuration of state, by key."""
    factory: Any = None
    """The options factory of RocksDB, or the factory of a custom backend."""
    changelog: bool = CHANGELOG.default
    refuse_pickle: bool = False
    """Whether pickled state is an error."""

    def of(self, backend: str) -> StateSettings:
        """Return the settings for another backend."""
        return replace(self, backend=backend)
