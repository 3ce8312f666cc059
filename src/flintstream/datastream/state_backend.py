"""State backends, which hold the working state of a program. Checkpoints are in the checkpoint storage.

Like storages, backends correspond to keys of Flink's configuration.
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
