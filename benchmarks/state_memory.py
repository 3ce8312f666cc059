"""Memory of a key for each kind of state: in a dict, in both backends, and in PyFlink's hash map.

    python -m benchmarks.memory --states [--keys 1000000] [--kinds value,map] [--pyflink FLINK_PYTHON]

Keys are ints from 0 on, with one entry each. Every figure is of a separate process: the growth of its resident memory,
divided by the number of keys. RocksDB has the state in files; what grows are its write buffers and its cache.

PyFlink has state in its JVM. One job fills all states; its figures are the growth of what is left in the heap after a
garbage collection. This needs the ``jcmd`` of a JDK on the path.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engines import REPOSITORY
from benchmarks.workload import Run

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
    from flintstream.common import Types
    from flintstream.common.time import Time
    from flintstream.contracts.functions import AggregateFunction
    from flintstream.datastream import state

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
    # A sum is an object of its own; other values are the object that is the key.
    content: dict[str, Callable[[int], Any]] = {
        "list": lambda n: [n],
        "map": lambda n: {n: n},
        "aggregating": lambda n: 0 + n,
    }
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
    from flintstream.state.hash_map import HashMapStateBackend

    if settings["where"] == "hashmap":
        return in_backend(kind, HashMapStateBackend(), keys, ttl=ttl)
    from flintstream.runtime.keys import KeyGroups
    from flintstream.state.rocksdb.backend import RocksDBStateBackend

    with tempfile.TemporaryDirectory() as directory:
        backend = RocksDBStateBackend(f"{directory}/db", KeyGroups(128))
        try:
            return in_backend(kind, backend, keys, ttl=ttl)
        finally:
            backend.close()


def in_process(settings: dict[str, Any]) -> float:
    """Measure one figure in a separate process."""
    command = [sys.executable, "-m", "benchmarks.memory", "--run", json.dumps(settings)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603 - this module
    return float(done.stdout.splitlines()[-1])


def in_pyflink(python: str, keys: int, kinds: list[tuple[str, bool]]) -> list[float]:
    """Return the bytes of a key for each kind of state, without and with a time-to-live, in PyFlink."""
    with tempfile.TemporaryDirectory() as directory:
        run = Run("state_memory", keys * len(kinds) + 1, directory, {"keys": keys, "kinds": kinds})
        path = os.pathsep.join([str(Path(python).parent), os.environ["PATH"]])  # PyFlink starts "python"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY)}
        command = [python, "-m", "benchmarks.runners.state_memory_pyflink", run.to_json()]
        subprocess.run(command, env=environment, cwd=directory, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
        sizes = list(map(int, Path(run.output).read_text(encoding="ascii").split()))
    assert len(sizes) == len(kinds) + 1
    return [(after - before) / keys for before, after in pairwise(sizes)]


def print_table(keys: int, kinds: list[str], pyflink: str | None = None) -> None:
    """Print the table, line by line; with the interpreter of an environment with PyFlink, also its column."""
    both = [(kind, ttl) for kind in kinds for ttl in (False, True)]
    theirs = in_pyflink(pyflink, keys, both) if pyflink else None
    columns = ["bytes per key", "dict", "hash map", "RocksDB", *(["PyFlink, hash map"] if theirs else [])]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for number, (kind, ttl) in enumerate(both):
        settings = {"kind": kind, "keys": keys, "ttl": ttl}
        figures = [in_process({**settings, "where": where}) for where in ("dict", "hashmap", "rocksdb")]
        figures += [theirs[number]] if theirs else []
        cells = [f"{kind}, time-to-live" if ttl else kind, *(f"{figure:.0f}" for figure in figures)]
        print(f"| {' | '.join(cells)} |", flush=True)
