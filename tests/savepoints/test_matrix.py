"""Any backend and parallelism restores a savepoint of any other."""

from __future__ import annotations

import ast
import functools
import itertools

import pytest
from tests.savepoints.everything import GATE, build, collected, sinks
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

STATES = ("hashmap", "hashmap with changelog", "rocksdb", "rocksdb with changelog")
BACKENDS = [pytest.param(state, marks=() if state == "rocksdb" else pytest.mark.slow) for state in STATES]
PARALLELISMS = (1, 2, 3)
KINDS = list(itertools.product(STATES, PARALLELISMS))


def configuration(tmp_path, state, engine="inline", **more):
    backend, _, changelog = state.partition(" ")
    return {
        "flintstream.engine": engine,
        "flintstream.master": "local[2]",
        "flintstream.epoch.idle-duration": "10",
        "state.backend.type": backend,
        "state.changelog.enabled": "true" if changelog else "false",
        "state.changelog.periodic-materialize.interval": "20 ms",
        "execution.checkpointing.interval": "20 ms",
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "restart-strategy.type": "none",
        **more,
    }


def savepoint(tmp_path, state, parallelism, engine="inline", **more):
    """Run the program up to its gate; return the savepoint and the output."""
    sink = sinks()
    settings = configuration(tmp_path, state, engine, **more)
    client = build(settings, parallelism, sink, gate=GATE).execute_async("everything")
    before = collected(sink)

    def committed():
        before.update(joined(before, collected(sink)))
        return {len(before[name]) for name in ("tally", "ttl", "waits")}

    # A savepoint contains output that is not committed yet, which the job that starts from it commits to other sinks.
    wait_for(committed, client, {GATE}.__eq__)
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    return path, joined(before, collected(sink))


def resume(tmp_path, path, state, parallelism, engine="inline", sink=None, **more):
    """Run the rest from a savepoint and return the output."""
    sink = sink or sinks()
    more = {"execution.state-recovery.path": path, **more}
    build(configuration(tmp_path, state, engine, **more), parallelism, sink).execute("everything")
    return collected(sink)


def final(output):
    """Return the part of the output that does not depend on the order of a source's splits."""
    tallied = [ast.literal_eval(text) for text in output["tally"]]
    rows: dict[int, tuple] = {}
    for row in tallied:
        if row[0] != "timer":
            rows[row[0]] = max(row, rows.get(row[0], row), key=lambda item: item[1])
    ttl: dict[str, str] = {}
    for text in output["ttl"]:
        _, key, counts = text.split(" ", 2)
        ttl[key] = max(counts, ttl.get(key, counts), key=lambda count: ast.literal_eval(count)[0])
    return {
        "rows": rows,
        "timers": sorted(row for row in tallied if row[0] == "timer"),
        "ttl": ttl,
        "waits": (len(output["waits"]), sum(text.endswith("None") for text in output["waits"])),
        **{name: sorted(output[name]) for name in ("tumbling", "sliding", "sessions", "counted")},
    }


def joined(first, second):
    return {name: first[name] + second[name] for name in first}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    sink = sinks()
    build(configuration(tmp_path_factory.mktemp("whole"), "hashmap"), 2, sink).execute("everything")
    return final(collected(sink))


@pytest.fixture(scope="module")
def savepoints(tmp_path_factory):
    """Savepoints by backend and parallelism, created on request."""
    return functools.cache(lambda kind: savepoint(tmp_path_factory.mktemp("written"), *kind))


def pairs():
    """All pairs: the first dozen has each writer and each reader once, as has the second, and so on."""
    for shift, (number, writer) in itertools.product(range(len(KINDS)), enumerate(KINDS)):
        reader = KINDS[(5 * number + shift) % len(KINDS)]
        marks = pytest.mark.deep if shift >= 2 else pytest.mark.slow if shift else ()
        yield pytest.param(writer, reader, marks=marks, id=" ".join(map(str, writer + reader)))


@pytest.mark.parametrize(("writer", "reader"), list(pairs()))
def test_a_savepoint_is_restored_by_any_backend_at_any_parallelism(writer, reader, savepoints, uninterrupted, tmp_path):
    path, before = savepoints(writer)
    after = resume(tmp_path, path, *reader)
    assert final(joined(before, after)) == uninterrupted
    assert {text.split(" ", 2)[2] for text in after["rules"]} == {"[0, 1, 2]"}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("writer", "reader"),
    [(("hashmap", 2), ("rocksdb with changelog", 3)), (("rocksdb", 3), ("hashmap with changelog", 1))],
)
def test_a_savepoint_is_restored_on_spark(writer, reader, uninterrupted, tmp_path):
    path, before = savepoint(tmp_path, writer[0], writer[1], "spark")
    after = resume(tmp_path, path, reader[0], reader[1], "spark")
    assert final(joined(before, after)) == uninterrupted
