from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from flintstream import datastream

# pyflink.datastream.__all__ of 2.3.0 and the modules that define the names.
PYFLINK_2 = {
    "async_data_stream": "AsyncDataStream",
    "checkpoint_config": "CheckpointConfig",
    "checkpoint_storage": (
        "CheckpointStorage JobManagerCheckpointStorage FileSystemCheckpointStorage CustomCheckpointStorage"
    ),
    "checkpointing_mode": "CheckpointingMode",
    "data_stream": (
        "DataStream KeyedStream WindowedStream ConnectedStreams BroadcastStream BroadcastConnectedStream DataStreamSink"
    ),
    "execution_mode": "RuntimeExecutionMode",
    "externalized_checkpoint_retention": "ExternalizedCheckpointRetention",
    "functions": (
        "MapFunction CoMapFunction FlatMapFunction CoFlatMapFunction ReduceFunction FilterFunction "
        "ProcessFunction KeyedProcessFunction CoProcessFunction KeyedCoProcessFunction WindowFunction "
        "ProcessWindowFunction AggregateFunction BroadcastProcessFunction KeyedBroadcastProcessFunction "
        "AsyncFunction RuntimeContext KeySelector Partitioner SourceFunction SinkFunction AsyncRetryPredicate "
        "AsyncRetryStrategy"
    ),
    "output_tag": "OutputTag",
    "slot_sharing_group": "SlotSharingGroup MemorySize",
    "state_backend": (
        "StateBackend HashMapStateBackend EmbeddedRocksDBStateBackend CustomStateBackend PredefinedOptions"
    ),
    "stream_execution_environment": "StreamExecutionEnvironment",
    "time_domain": "TimeDomain",
    "timerservice": "TimerService",
    "window": "Window TimeWindow CountWindow GlobalWindow WindowAssigner MergingWindowAssigner TriggerResult Trigger",
}
# Further exports of PyFlink 1.15.
PYFLINK_1 = {
    "checkpoint_config": "ExternalizedCheckpointCleanup",
    "state_backend": "MemoryStateBackend FsStateBackend RocksDBStateBackend",
    "time_characteristic": "TimeCharacteristic",
}
HOMES = {name: home for table in (PYFLINK_2, PYFLINK_1) for home, names in table.items() for name in names.split()}


def run(program):
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)  # noqa: S603 - our own text


def test_exactly_what_pyflink_exports_is_exported():
    assert set(datastream.__all__) == set(HOMES)
    assert len(datastream.__all__) == len(set(datastream.__all__))


@pytest.mark.parametrize("name", sorted(datastream.__all__))
def test_an_exported_name_is_that_of_pyflinks_module(name):
    home = importlib.import_module(f"flintstream.datastream.{HOMES[name]}")
    assert getattr(datastream, name) is getattr(home, name)


def test_a_name_that_this_version_lacks_says_so(monkeypatch):
    monkeypatch.setitem(datastream._MODULE_OF_NAME, "NotWritten", "functions")
    with pytest.raises(ImportError, match="this version of flintstream does not have NotWritten yet"):
        getattr(datastream, "NotWritten")  # noqa: B009 - mypy knows that there is no such attribute


def test_a_module_that_this_version_lacks_says_so(monkeypatch):
    monkeypatch.setattr(datastream, "_MODULES", {*datastream._MODULES, "not_written"})
    with pytest.raises(ImportError, match="does not have not_written yet"):
        getattr(datastream, "not_written")  # noqa: B009 - mypy knows that there is no such attribute


def test_an_error_inside_a_module_is_not_taken_for_its_absence(monkeypatch):
    def broken(path):
        raise ModuleNotFoundError("No module named 'rocksdict'", name="rocksdict")

    monkeypatch.setattr(datastream, "import_module", broken)
    monkeypatch.delitem(vars(datastream), "StateBackend", raising=False)
    with pytest.raises(ModuleNotFoundError, match="rocksdict"):
        getattr(datastream, "StateBackend")  # noqa: B009 - the attribute is what is tested


def test_a_name_that_pyflink_does_not_have_is_an_attribute_error():
    assert not hasattr(datastream, "Nonsense")


def test_dir_lists_the_exported_names_before_they_are_loaded():
    run("from flintstream import datastream as d; assert set(d.__all__) <= set(dir(d)); assert '__doc__' in dir(d)")


def test_importing_one_setting_imports_nothing_of_the_rest():
    run(
        "import sys; from flintstream.datastream import CheckpointingMode; "
        "ours = {name for name in sys.modules if name.startswith('flintstream')}; "
        "expected = {'flintstream', 'flintstream.datastream', 'flintstream.datastream.checkpointing_mode'}; "
        "assert ours == expected, ours"
    )


def test_modules_are_attributes_without_an_import_of_their_own():
    run("import flintstream.datastream as d; d.checkpoint_config.CheckpointConfig(); d.connectors.FileSource")


def test_a_star_import_brings_every_exported_name():
    run("import flintstream.datastream as d; from flintstream.datastream import *; assert set(d.__all__) <= set(dir())")
