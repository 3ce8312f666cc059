"""A harness starts from the savepoint of a job."""

from __future__ import annotations

import pytest
from tests.engine.sources import PacedSource
from tests.waiting import wait_for_numbers

from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.errors import CheckpointError
from flintstream.testing import CollectSink
from flintstream.testing.harness import KeyedHarness

COUNT = ValueStateDescriptor("count", Types.LONG())


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(COUNT)

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield self.count.value()


def count(stream):
    return stream.key_by(lambda n: n % 3).process(Count()).uid("count")


def test_a_function_goes_on_with_the_state_that_a_job_has_left(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)
    sink = CollectSink()
    numbers = env.from_source(PacedSource(10_000, 0.001), WatermarkStrategy.no_watermarks(), "numbers")
    count(numbers).add_sink(sink)
    client = env.execute_async("count")
    wait_for_numbers(client, numRecordsOut=10)
    path = client.stop_with_savepoint(False, str(tmp_path)).result()
    counted = len(sink.get_results(True, False))
    assert counted >= 10
    with KeyedHarness(count) as harness:
        harness.initialize_state(path)
        counts = [harness.get_state(COUNT, key) for key in range(3)]
        assert sum(counts) == counted
        harness.process_element(3)
        assert harness.extract_output_values() == [counts[0] + 1]
    with (
        KeyedHarness(lambda s: count(s).uid("other")) as harness,
        pytest.raises(
            CheckpointError, match=r"has no operator with the uid of .* only .*'KEYED PROCESS' \(uid count\)"
        ),
    ):
        harness.initialize_state(path)


def test_a_path_without_a_savepoint_is_an_error(tmp_path):
    with KeyedHarness(count) as harness, pytest.raises(CheckpointError, match="there is no checkpoint or savepoint at"):
        harness.initialize_state(str(tmp_path))
