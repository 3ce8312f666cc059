"""A job can continue from a checkpoint of any backend, with the changelog on or off, with any other backend."""

from __future__ import annotations

import functools
import itertools

import pytest
from tests.savepoints.everything import GATE, build, collected, sinks
from tests.savepoints.test_matrix import STATES, configuration, final, joined, resume
from tests.waiting import wait_for_numbers

pytestmark = pytest.mark.slow

RETAINED = {"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    sink = sinks()
    build(configuration(tmp_path_factory.mktemp("whole"), "hashmap"), 2, sink).execute("everything")
    return final(collected(sink))


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """The last checkpoint of a cancelled job and its output, by backend; created on request."""

    @functools.cache
    def make(state):
        place = tmp_path_factory.mktemp("written")
        sink = sinks()
        client = build(configuration(place, state, **RETAINED), 2, sink, gate=GATE).execute_async("everything")
        wait_for_numbers(client, numRecordsIn=26, numCheckpoints=1)
        client.cancel().result()
        (metadata,) = (place / "checkpoints").glob("*/chk-*/_metadata")
        return str(metadata.parent), sink, collected(sink)

    return make


def cases():
    """All cases: the first four have each writer and each reader once, as have the next four, and so on."""
    for shift, number, parallelism in itertools.product(range(4), range(4), (3, 2)):
        marks = pytest.mark.deep if parallelism == 2 + shift % 2 else pytest.mark.slow if shift else ()
        writer, reader = STATES[number], STATES[(number + shift + 1) % 4]
        yield pytest.param(writer, reader, parallelism, marks=marks, id=f"{writer} {reader} {parallelism}")


@pytest.mark.parametrize(("writer", "reader", "parallelism"), list(cases()))
def test_a_checkpoint_is_gone_on_from_with_any_backend(
    writer, reader, parallelism, checkpoints, uninterrupted, tmp_path
):
    path, sink, before = checkpoints(writer)
    after = resume(tmp_path, path, reader, parallelism, sink=sink)  # which knows the results it has already collected
    assert final(joined(before, after)) == uninterrupted
