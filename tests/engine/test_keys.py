"""Keys that are not just strings and numbers."""

from __future__ import annotations

from tests.engine.sources import PacedSource

from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor


class SpoilTheKey(KeyedProcessFunction):
    """Counts per key, and changes the object that was the key."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        value[0].append("spoiled")
        ctx.get_current_key().append("spoiled, too")
        yield ctx.get_current_key(), self.count.value()


def test_changing_an_object_that_was_a_key_changes_no_key(make_env):
    env = make_env(1, {"flintstream.epoch.idle-duration": "20"})
    paced = env.from_source(PacedSource(10, 0.02), WatermarkStrategy.no_watermarks(), "paced")
    counts = paced.map(lambda n: (["key"], n)).key_by(lambda pair: pair[0]).process(SpoilTheKey())
    assert counts.execute_and_collect(limit=20) == [(["key"], n) for n in range(1, 11)]
