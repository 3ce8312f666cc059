"""Millions of keys in RocksDB: the worker's memory, and the cost of an access compared with the hash map.

    python -m benchmarks.rocksdb_keys [--keys 10000000]

A ``ValueState`` of int per key; the measurements include the deltas at the end of epochs.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from flintstream.common import Types
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.runtime.keys import key_group
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.rocksdb.backend import RocksDBStateBackend

if TYPE_CHECKING:
    from collections.abc import Sequence

EPOCH = 200_000
"""Records between two epochs."""

HOT = 10_000


def resident() -> int:
    """Return the memory of this process in MiB."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return int(fields["VmRSS"].split()[0]) >> 10


def count(backend: Any, keys: Sequence[int]) -> float:
    """Add 1 to the state of each key, epoch by epoch; return the microseconds per key."""
    state = backend.state(ValueStateDescriptor("count", Types.LONG()))
    start = perf_counter()
    for at in range(0, len(keys), EPOCH):
        for backend.key in keys[at : at + EPOCH]:
            state.update((state.value() or 0) + 1)
        backend.take_delta()
    return (perf_counter() - start) / len(keys) * 1e6


def write(backend: Any, keys: Sequence[int]) -> float:
    """Set the state of each key; return the microseconds per key."""
    state = backend.state(ValueStateDescriptor("count", Types.LONG()))
    start = perf_counter()
    for at in range(0, len(keys), EPOCH):
        for backend.key in keys[at : at + EPOCH]:
            state.update(backend.key)
        backend.take_delta()
    return (perf_counter() - start) / len(keys) * 1e6


def read(backend: Any, keys: Sequence[int]) -> float:
    """Get the state of each key; return the microseconds per key."""
    state = backend.state(ValueStateDescriptor("count", Types.LONG()))
    start = perf_counter()
    for backend.key in keys:
        state.value()
    return (perf_counter() - start) / len(keys) * 1e6


def report(what: str, value: float, unit: str) -> None:
    """Print a line."""
    print(f"{what:<60} {value:10.2f} {unit}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=10_000_000)
    keys = parser.parse_args().keys
    draw = random.Random(1)
    hot = [draw.randrange(HOT) for _ in range(1_000_000)]
    cold = [draw.randrange(keys) for _ in range(200_000)]
    report("memory at the start", resident(), "MiB")

    with tempfile.TemporaryDirectory() as directory:
        backend = RocksDBStateBackend(f"{directory}/db", lambda key: key_group(key, 128))
        backend.tracking = True
        report(f"RocksDB: set each of {keys:,} keys", write(backend, range(keys)), "us")
        report("memory", resident(), "MiB")
        report("RocksDB: get random keys", read(backend, cold), "us")
        report("RocksDB: get and set random keys", count(backend, cold), "us")
        report("RocksDB: get new keys", read(backend, range(keys, keys + 200_000)), "us")
        report(f"RocksDB: get and set random keys out of {HOT:,}", count(backend, hot), "us")
        start = perf_counter()
        backend.write_native(f"{directory}/files")
        report("RocksDB: files of a checkpoint", (perf_counter() - start) * 1e3, "ms")
        start = perf_counter()
        entries = sum(len(change.keys) for change in backend.take_snapshot())
        report(f"RocksDB: full snapshot, {entries:,} entries", (perf_counter() - start) / entries * 1e6, "us each")
        size = sum(file.stat().st_size for file in Path(directory, "files").iterdir()) >> 20
        report("size of the files", size, "MiB")
        report("memory", resident(), "MiB")
        report("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, "MiB")
        backend.close()

    plain = HashMapStateBackend()
    plain.tracking = True
    report(f"hash map: get and set random keys out of {HOT:,}", count(plain, hot), "us")
    report("hash map: set each of 1,000,000 keys", write(plain, range(1_000_000)), "us")
    report("hash map: get random keys", read(plain, [key % 1_000_000 for key in cold]), "us")


if __name__ == "__main__":
    main()
