"""Savepoints and checkpoints to read and to change, and programs that start from them."""

from __future__ import annotations

import time

from tests.savepoints.everything import GATE, build, collected, sinks
from tests.savepoints.test_matrix import configuration
from tests.waiting import wait_for, wait_for_numbers

from flintstream.common import Types
from flintstream.coordinator.checkpointing import recovery
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from flintstream.storage.stores import file_store
from flintstream.testing import CollectSink

COUNTS = {0: 5, 1: 5, 2: 5, 3: 4, 4: 4}
"""The count of each key before the gate of the program with every kind of state."""


def checkpoint(tmp_path, state, parallelism):
    """Run that program up to its gate and cancel it; return its last checkpoint and its output."""
    sink = sinks()
    keep = {"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
    env = build(configuration(tmp_path, state, **keep), parallelism, sink, gate=GATE)
    client = env.execute_async("everything")
    wait_for_numbers(client, numRecordsIn=26)
    store = file_store((tmp_path / "checkpoints").as_uri())
    passed = time.time() * 1000
    # one in whose time all output was committed: restoring an earlier one commits some of it once more
    wait_for(
        lambda: (
            (found := recovery.newest(store)) is not None
            and found.metadata.created_ms > passed
            and not found.metadata.committables
        )
    )
    client.cancel().result()
    last = recovery.newest(store)
    assert last is not None
    return last.where, collected(sink)


COUNT = ValueStateDescriptor("count", Types.LONG())
SEEN = ListStateDescriptor("seen", Types.STRING())
PRICES = MapStateDescriptor("prices", Types.STRING(), Types.DOUBLE())


class Remember(KeyedProcessFunction):
    """Emit the state of a key."""

    def __init__(self, descriptors):
        self.descriptors = descriptors

    def open(self, runtime_context):
        count, seen, prices = self.descriptors
        self.count = runtime_context.get_state(count)
        self.seen = runtime_context.get_list_state(seen)
        self.prices = runtime_context.get_map_state(prices)

    def process_element(self, value, ctx):
        yield ctx.get_current_key(), self.count.value(), list(self.seen.get()), dict(self.prices.items())


def rows(path, keys, parallelism=2, max_parallelism=32, descriptors=(COUNT, SEEN, PRICES), **more):
    """Start a job from a savepoint and return its state of each key: key, count, seen, prices."""
    conf = {"flintstream.engine": "inline", "execution.state-recovery.path": path, **more}
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    env.set_parallelism(parallelism).set_max_parallelism(max_parallelism)
    sink = CollectSink()
    env.from_collection(keys).key_by(lambda key: key).process(Remember(descriptors)).uid("remember").sink_to(sink)
    env.execute("remember")
    return sink.get_results(True, False)


def remembered(*arguments, **more):
    """Return the rows by key."""
    return {row[0]: row[1:] for row in rows(*arguments, **more)}
