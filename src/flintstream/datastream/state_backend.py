"""Where a program keeps the state it works on. Where checkpoints of it go is the checkpoint storage's matter.

As with the storages, each backend stands for the keys of Flink's configuration that say the same.
"""

from __future__ import annotations

from flintstream.common._public import publish
from flintstream.datastream._older_state_backends import FsStateBackend, MemoryStateBackend, RocksDBStateBackend
from flintstream.datastream._state_backends import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    PredefinedOptions,
    StateBackend,
)

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "FsStateBackend",
    "HashMapStateBackend",
    "MemoryStateBackend",
    "PredefinedOptions",
    "RocksDBStateBackend",
    "StateBackend",
]

publish(__name__, __all__, globals())
