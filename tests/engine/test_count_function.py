"""The count function of PyFlink's guide to state: keyed state inside a ``MapFunction`` on a keyed stream."""

from __future__ import annotations

import pytest

from flintstream.common import Types
from flintstream.datastream.functions import MapFunction, RuntimeContext
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.testing import CollectSink


class CountFunction(MapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        count = self.count.value() or 0
        self.count.update(count + 1)
        return value, count + 1


@pytest.mark.on_spark
def test_a_map_function_on_a_keyed_stream_keeps_state_per_key(make_env):
    env = make_env(2)
    sink = CollectSink()
    pairs = env.from_collection(["a", "b", "a", "a", "b"]).map(lambda word: (word, 1))
    pairs.key_by(lambda pair: pair[0]).map(CountFunction()).add_sink(sink)
    env.execute("count")
    results = sink.get_results(is_python_object=True, stringify=False)
    assert sorted(results) == [(("a", 1), 1), (("a", 1), 2), (("a", 1), 3), (("b", 1), 1), (("b", 1), 2)]
