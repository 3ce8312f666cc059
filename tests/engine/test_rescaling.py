"""A running job goes on with another parallelism, and every record counts once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.engine.tally import Millis, Tally, expected, ordered, tally
from tests.waiting import wait_for, wait_for_numbers

from flintstream.common import Encoder, Time, Types, WatermarkStrategy
from flintstream.coordinator import asking, registry
from flintstream.datastream.connectors.file_system import FileSink, OutputFileConfig, RollingPolicy
from flintstream.datastream.functions import KeyedProcessFunction, MapFunction
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.errors import FlintstreamError
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def jobs_directory(tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))


def settings(tmp_path, **more):
    return {
        "flintstream.epoch.max-duration": "50 ms",
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        **more,
    }


def ask(client, request="rescale", **arguments):
    return asking.ask(registry.find(str(client.get_job_id())), request, **arguments)


def vertices(client):
    return ask(client, "record")["plan"]["vertices"]


def parallelism_of(client, name):
    return next(vertex["parallelism"] for vertex in vertices(client) if name in vertex["name"])


def go_on(client, epochs=2):
    """Wait until some more epochs have ended."""
    before = client.get_accumulators().result()["numEpochs"]
    wait_for_numbers(client, numEpochs=before + epochs)


@pytest.mark.on_spark
def test_state_timers_and_output_survive_several_changes_up_and_down(make_env, tmp_path):
    env = make_env(2, settings(tmp_path))
    sink = tally(env, 250, 0.02)
    client = env.execute_async("tally")
    job = str(client.get_job_id())
    wait_for_numbers(client, numRecordsOut=1)
    for parallelism in (5, 1, 3, 2):
        changed = ask(client, parallelism=parallelism)
        assert {item["to"] for item in changed} == {parallelism}
        assert {vertex["parallelism"] for vertex in vertices(client)} == {parallelism}
        go_on(client)
    assert str(client.get_job_id()) == job
    assert ask(client, "status")["restarts"] == 0
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(250))


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("changelog", ["false", "true"])
def test_any_state_backend_goes_on(make_inline_env, tmp_path, backend, changelog):
    more = {"state.backend.type": backend, "state.changelog.enabled": changelog}
    env = make_inline_env(2, settings(tmp_path, **more))
    sink = tally(env, 120, 0.01)
    client = env.execute_async("tally")
    for parallelism in (3, 1):
        wait_for_numbers(client, numRecordsOut=1)
        ask(client, parallelism=parallelism)
        go_on(client)
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(120))


def test_a_job_without_checkpoints_goes_on_from_one_in_memory(make_inline_env):
    env = make_inline_env(1, {"flintstream.epoch.max-duration": "50 ms"})
    sink = tally(env, 80, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=1)
    ask(client, parallelism=3)
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(80))


def test_state_that_does_not_fit_into_memory_leaves_the_job_as_it_is(make_inline_env):
    limit = {
        "flintstream.checkpointing.jobmanager.max-state-size": "1",
        "execution.checkpointing.storage": "jobmanager",
    }
    env = make_inline_env(1, {"flintstream.epoch.max-duration": "50 ms", **limit})
    sink = tally(env, 150, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=1)
    with pytest.raises(FlintstreamError, match=r"the job continues unchanged: checkpoint 1 failed: .*memory"):
        ask(client, parallelism=3)
    assert parallelism_of(client, "KEYED PROCESS") == 1
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(150))


def windowed(env, directory, limit, pause=0.02):
    """Sums by key in windows, each record also in files that are visible once."""
    numbers = env.from_source(PacedSource(limit, pause), WatermarkStrategy.no_watermarks(), "paced")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Millis())
    numbers = numbers.assign_timestamps_and_watermarks(strategy)
    keyed = numbers.map(lambda n: (n % 7, n)).key_by(lambda pair: pair[0])
    sums = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(20))).reduce(lambda a, b: (a[0], a[1] + b[1]))
    sums.map(str, Types.STRING()).sink_to(
        FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .with_output_file_config(OutputFileConfig.builder().with_part_prefix("sums").build())
        .build()
    )


def sums_of(limit):
    found: dict[tuple[int, int], int] = {}
    for n in range(limit):
        place = (n // 20, n % 7)
        found[place] = found.get(place, 0) + n
    return sorted(str((key, total)) for (_, key), total in found.items())


def lines_in(directory):
    files = [path for path in Path(directory).rglob("sums*") if not path.name.startswith(".")]
    return sorted(line for path in files for line in path.read_text().splitlines())


@pytest.mark.on_spark
def test_windows_and_files_are_exact_beyond_the_cores(make_env, tmp_path):
    env = make_env(1, settings(tmp_path))
    windowed(env, tmp_path / "out", 250)
    client = env.execute_async("windows")
    wait_for_numbers(client, numEpochs=2)
    for parallelism in (6, 2):
        ask(client, parallelism=parallelism)
        go_on(client)
    client.get_job_execution_result().result()
    assert lines_in(tmp_path / "out") == sums_of(250)


class DiesOnce(MapFunction):
    """Kill the process of one task, once."""

    def __init__(self, marker):
        self.marker = marker

    def map(self, value):
        if self.marker.exists():
            self.marker.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return value


@pytest.mark.spark
@pytest.mark.kills
def test_a_worker_that_is_killed_during_the_change_costs_no_record(make_spark_env, tmp_path):
    env = make_spark_env(2, settings(tmp_path, **{"restart-strategy.type": "fixed-delay"}))
    numbers = env.from_source(PacedSource(300, 0.02), WatermarkStrategy.no_watermarks(), "paced")
    sink = CollectSink()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Millis())
    numbers.assign_timestamps_and_watermarks(strategy).map(DiesOnce(tmp_path / "die")).key_by(lambda n: n % 5).process(
        Tally()
    ).sink_to(sink)
    client = env.execute_async("killed")
    for parallelism in (3, 1):
        go_on(client)
        (tmp_path / "die").touch()
        ask(client, parallelism=parallelism)
        wait_for(lambda: not (tmp_path / "die").exists(), client)
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(300))


def test_a_failure_after_the_change_restarts_with_it(make_inline_env, tmp_path):
    more = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "10 ms"}
    env = make_inline_env(1, settings(tmp_path, **more))
    sink = tally(env, 300, 0.01, fail_at=250, marker=tmp_path / "failed")
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=1)
    ask(client, parallelism=2)
    wait_for_numbers(client, numRestarts=1)
    assert parallelism_of(client, "KEYED PROCESS") == 2
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(300))


class NotInThree(KeyedProcessFunction):
    def open(self, runtime_context):
        if runtime_context.get_number_of_parallel_subtasks() == 3:
            raise ValueError("three is a crowd")

    def process_element(self, value, ctx):
        yield value


def test_a_job_that_fails_at_once_goes_back_without_a_restart(make_inline_env):
    env = make_inline_env(2, {"flintstream.epoch.max-duration": "50 ms"})
    sink = CollectSink()
    numbers = env.from_source(PacedSource(150, 0.01), WatermarkStrategy.no_watermarks(), "paced")
    numbers.key_by(lambda n: n % 5).process(NotInThree()).sink_to(sink)
    client = env.execute_async("crowd")
    wait_for_numbers(client, numRecordsOut=1)
    with pytest.raises(FlintstreamError, match="returned to its previous parallelism: ValueError: three is a crowd"):
        ask(client, parallelism=3)
    assert parallelism_of(client, "KEYED PROCESS") == 2
    ask(client, parallelism=4)
    assert ask(client, "status")["restarts"] == 0
    client.get_job_execution_result().result()
    assert sorted(sink.get_results(True, False)) == list(range(150))


def test_operators_with_a_parallelism_of_their_own_keep_it(make_inline_env):
    env = make_inline_env(2, {"flintstream.epoch.max-duration": "50 ms"})
    numbers = env.from_source(PacedSource(200, 0.01), WatermarkStrategy.no_watermarks(), "paced").set_parallelism(1)
    numbers.map(lambda n: n).name("own").set_parallelism(3).rebalance().map(lambda n: n).name("other").sink_to(
        CollectSink()
    )
    client = env.execute_async("own")
    wait_for_numbers(client, numEpochs=1)
    changed = {item["name"]: (item["from"], item["to"]) for item in ask(client, parallelism=4)}
    assert (changed["paced"], changed["own"], changed["other"]) == ((1, 1), (3, 3), (2, 4))
    client.cancel().result()


def test_each_vertex_can_have_a_parallelism(make_inline_env, tmp_path):
    env = make_inline_env(2, settings(tmp_path))
    sink = tally(env, 200, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numEpochs=1)
    source, other = (vertex["id"] for vertex in vertices(client))
    for wanted, message in (
        ({source: 1}, "the parallelism of the vertex .* is missing"),
        ({source: 1, other: 1, "f" * 32: 1}, "is not a vertex of the job"),
        ({source: 1, other: 0}, "a parallelism must be 1 to 32768, but got 0"),
    ):
        with pytest.raises(FlintstreamError, match=message):
            ask(client, vertices=wanted)
    ask(client, vertices={source: 1, other: 3})
    assert [vertex["parallelism"] for vertex in vertices(client)] == [1, 3]
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(200))


def test_more_than_the_maximum_parallelism_is_refused(make_inline_env, tmp_path):
    env = make_inline_env(2, settings(tmp_path))
    tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numEpochs=1)
    with pytest.raises(FlintstreamError, match=r"operator 'KEYED PROCESS' cannot have parallelism 129, .* is 128"):
        ask(client, parallelism=129)
    assert parallelism_of(client, "KEYED PROCESS") == 2
    client.cancel().result()


def test_a_batch_job_and_one_with_nothing_to_change_are_refused(make_inline_env, tmp_path):
    env = make_inline_env(2)
    numbers = env.from_source(PacedSource(None, 0.01), WatermarkStrategy.no_watermarks(), "paced").set_parallelism(1)
    numbers.sink_to(CollectSink()).set_parallelism(1)
    client = env.execute_async("fixed")
    wait_for_numbers(client, numEpochs=1)
    with pytest.raises(FlintstreamError, match="the program sets the parallelism of all operators of 'fixed'"):
        ask(client, parallelism=3)
    client.cancel().result()
