"""Millions of keys in RocksDB: the worker's memory, and the cost of an access compared with the hash map.

    python -m benchmarks.rocksdb_keys [--keys 10000000] [--bytes 1000] [--reads 200000] [--hot]

A ``ValueState`` per key, of int or of so many random bytes; the measurements include the deltas at the end of epochs.
With ``--hot``, nine of ten random accesses go to a tenth of the keys. Times are of the processor, of all threads of
this process: RocksDB compacts in threads of its own. ``benchmarks/java/RocksDBKeys.java`` does the same in Flink's
runtime, without Python.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from flintstream.common import Types
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.runtime.keys import KeyGroups
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


def state_of(backend: Any, size: int = 0) -> Any:
    """Return the state of all measurements."""
    return backend.state(ValueStateDescriptor("value", Types.PRIMITIVE_ARRAY(Types.BYTE()) if size else Types.LONG()))


def count(backend: Any, keys: Sequence[int]) -> float:
    """Add 1 to the state of each key, epoch by epoch; return the microseconds per key."""
    state = state_of(backend)
    start = process_time()
    for at in range(0, len(keys), EPOCH):
        for backend.key in keys[at : at + EPOCH]:
            state.update((state.value() or 0) + 1)
        backend.take_delta()
    return (process_time() - start) / len(keys) * 1e6


def write(backend: Any, keys: Sequence[int], size: int = 0) -> float:
    """Set the state of each key, to ``size`` bytes if that is given; return the microseconds per key."""
    draw = random.Random(1)
    state = state_of(backend, size)
    start = process_time()
    for at in range(0, len(keys), EPOCH):
        for backend.key in keys[at : at + EPOCH]:
            state.update(draw.randbytes(size) if size else backend.key)
        backend.take_delta()
    return (process_time() - start) / len(keys) * 1e6


def read(backend: Any, keys: Sequence[int], size: int = 0) -> float:
    """Get the state of each key; return the microseconds per key."""
    state = state_of(backend, size)
    start = process_time()
    for backend.key in keys:
        state.value()
    return (process_time() - start) / len(keys) * 1e6


def change(backend: Any, keys: Sequence[int], size: int) -> float:
    """Get and set the state of each key to ``size`` bytes, epoch by epoch; return the microseconds per key."""
    draw = random.Random(2)
    state = state_of(backend, size)
    start = process_time()
    for at in range(0, len(keys), EPOCH):
        for backend.key in keys[at : at + EPOCH]:
            state.value()
            state.update(draw.randbytes(size))
        backend.take_delta()
    return (process_time() - start) / len(keys) * 1e6


def drawn(count: int, keys: int, *, hot: bool) -> list[int]:
    """Return random keys; if ``hot``, nine of ten are among a tenth of the keys, which are spread over all."""
    draw = random.Random(1)
    if not hot:
        return [draw.randrange(keys) for _ in range(count)]
    return [draw.randrange(keys // 10) * 10 if draw.random() < 0.9 else draw.randrange(keys) for _ in range(count)]


def report(what: str, value: float, unit: str) -> None:
    """Print a line."""
    print(f"{what:<60} {value:10.2f} {unit}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--bytes", type=int, default=0)
    parser.add_argument("--reads", type=int, default=200_000)
    parser.add_argument("--hot", action="store_true", help="nine of ten accesses go to a tenth of the keys")
    options = parser.parse_args()
    keys, size = options.keys, options.bytes
    draw = random.Random(1)
    hot = [draw.randrange(HOT) for _ in range(1_000_000)]
    cold = drawn(options.reads, keys, hot=options.hot)
    report("memory at the start", resident(), "MiB")

    with tempfile.TemporaryDirectory() as directory:
        backend = RocksDBStateBackend(f"{directory}/db", KeyGroups(128))
        backend.tracking = True
        report(f"RocksDB: set each of {keys:,} keys", write(backend, range(keys), size), "us")
        report("memory", resident(), "MiB")
        report("RocksDB: get random keys", read(backend, cold, size), "us")
        if size:
            report("RocksDB: get and set random keys", change(backend, cold, size), "us")
        report("RocksDB: get new keys", read(backend, range(keys, keys + options.reads), size), "us")
        if not size:
            report("RocksDB: get and set random keys", count(backend, cold), "us")
            report(f"RocksDB: get and set random keys out of {HOT:,}", count(backend, hot), "us")
        start = perf_counter()
        backend.write_native(f"{directory}/files")
        report("RocksDB: files of a checkpoint", (perf_counter() - start) * 1e3, "ms")
        start = process_time()
        entries = sum(len(change.keys) for change in backend.take_snapshot())
        report(f"RocksDB: full snapshot, {entries:,} entries", (process_time() - start) / entries * 1e6, "us each")
        files = sum(file.stat().st_size for file in Path(directory, "files").iterdir()) >> 20
        report("size of the files", files, "MiB")
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
