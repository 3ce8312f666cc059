"""Where a program keeps the state it works on. Where checkpoints of it go is the checkpoint storage's matter.

As with the storages, each backend stands for the keys of Flink's configuration that say the same.
"""

from __future__ import annotations

from flintstream.datastream._state_backend.base import HashMapStateBackend, StateBackend
from flintstream.datastream._state_backend.custom import CustomStateBackend
from flintstream.datastream._state_backend.older import FsStateBackend, MemoryStateBackend, RocksDBStateBackend
from flintstream.datastream._state_backend.rocksdb import EmbeddedRocksDBStateBackend, PredefinedOptions

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
