"""Memory of a key for each kind of state: in a dict, and in both backends.

    python -m benchmarks.memory --states [--keys 1000000] [--kinds value,map]

Keys are ints from 0 on, with one entry each. Every figure is of a separate process: the growth of its resident memory,
divided by the number of keys. RocksDB has the state in files; what grows are its write buffers and its cache.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("value", "list", "map", "reducing", "aggregating")
EPOCH = 200_000
"""Records between two epochs."""


def add(a: int, b: int) -> int:
    """Return the sum."""
    return a + b


def descriptor(kind: str, *, ttl: bool) -> Any:
    """Return the descriptor of a state of longs."""
    from flintstream.common import Types  # noqa: PLC0415 - after the first look at the memory
    from flintstream.common.time import Time  # noqa: PLC0415
    from flintstream.contracts.functions import AggregateFunction  # noqa: PLC0415
    from flintstream.datastream import state  # noqa: PLC0415

    class Sum(AggregateFunction[int, int, int]):
        def create_accumulator(self) -> int:
            return 0

        def add(self, value: int, accumulator: int) -> int:
            return value + accumulator

        def get_result(self, accumulator: int) -> int:
            return accumulator

        def merge(self, acc_a: int, acc_b: int) -> int:
            return acc_a + acc_b

    made: Any = {  # type: ignore[no-untyped-call]
        "value": lambda: state.ValueStateDescriptor("state", Types.LONG()),
        "list": lambda: state.ListStateDescriptor("state", Types.LONG()),
        "map": lambda: state.MapStateDescriptor("state", Types.LONG(), Types.LONG()),
        "reducing": lambda: state.ReducingStateDescriptor("state", add, Types.LONG()),
        "aggregating": lambda: state.AggregatingStateDescriptor("state", Sum(), Types.LONG()),
    }[kind]()
    if ttl:
        made.enable_time_to_live(state.StateTtlConfig.new_builder(Time.hours(1)).build())
    return made


def resident() -> int:
    """Return the memory of this process in bytes, without what it no longer uses."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return int(fields["VmRSS"].split()[0]) << 10


def setter(state: Any, kind: str) -> Callable[[int], None]:
    """Return a function that sets the state of the current key."""
    if kind == "value":
        return state.update  # type: ignore[no-any-return]
    if kind == "map":
        return lambda n: state.put(n, n)
    return state.add  # type: ignore[no-any-return]


def in_backend(kind: str, backend: Any, keys: int, *, ttl: bool) -> float:
    """Return the bytes of a key in a backend."""
    backend.tracking = True
    put = setter(backend.state(descriptor(kind, ttl=ttl)), kind)
    for backend.key in range(keys, keys + 1000):  # imports, and memory that does not depend on the number of keys
        put(backend.key)
    backend.take_delta()
    before = resident()
    for start in range(0, keys, EPOCH):
        for backend.key in range(start, min(start + EPOCH, keys)):
            put(backend.key)
        backend.take_delta()
    return (resident() - before) / keys


def in_dict(kind: str, keys: int, *, ttl: bool) -> float:
    """Return the bytes of a key in a dict; with a time-to-live, a tuple has the value and a time."""
    content: dict[str, Callable[[int], Any]] = {"list": lambda n: [n], "map": lambda n: {n: n}}
    make = content.get(kind, lambda n: n)
    before = resident()
    now = 1_700_000_000_000
    state = {n: (make(n), now + n) for n in range(keys)} if ttl else {n: make(n) for n in range(keys)}  # type: ignore[no-untyped-call]
    grown = (resident() - before) / keys
    assert len(state) == keys
    return grown


def measured(settings: dict[str, Any]) -> float:
    """Measure one figure in this process."""
    kind, keys, ttl = settings["kind"], settings["keys"], settings["ttl"]
    if settings["where"] == "dict":
        return in_dict(kind, keys, ttl=ttl)
    from flintstream.state.hash_map import HashMapStateBackend  # noqa: PLC0415

    if settings["where"] == "hashmap":
        return in_backend(kind, HashMapStateBackend(), keys, ttl=ttl)
    from flintstream.runtime.keys import key_group  # noqa: PLC0415
    from flintstream.state.rocksdb.backend import RocksDBStateBackend  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as directory:
        backend = RocksDBStateBackend(f"{directory}/db", lambda key: key_group(key, 128))
        try:
            return in_backend(kind, backend, keys, ttl=ttl)
        finally:
            backend.close()


def in_process(settings: dict[str, Any]) -> float:
    """Measure one figure in a separate process."""
    command = [sys.executable, "-m", "benchmarks.memory", "--run", json.dumps(settings)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603 - this module
    return float(done.stdout.splitlines()[-1])


def print_table(keys: int, kinds: list[str]) -> None:
    """Print the table, line by line."""
    print("| bytes per key | dict | hash map | RocksDB |\n|---|---|---|---|", flush=True)
    for kind in kinds:
        for ttl in (False, True):
            settings = {"kind": kind, "keys": keys, "ttl": ttl}
            figures = [in_process({**settings, "where": where}) for where in ("dict", "hashmap", "rocksdb")]
            cells = [f"{kind}, time-to-live" if ttl else kind, *(f"{figure:.0f}" for figure in figures)]
            print(f"| {' | '.join(cells)} |", flush=True)
