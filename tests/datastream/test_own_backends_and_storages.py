"""User-defined state backends and checkpoint storages."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from threading import Lock
from time import sleep
from types import ModuleType
from typing import Any

import cloudpickle
import pytest
from tests.datastream.inline import collect, make_env

from flintstream.common import Configuration, Types
from flintstream.datastream import (
    CustomCheckpointStorage,
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    StreamExecutionEnvironment,
)
from flintstream.datastream._environment.job_settings import checkpoint_settings, state_settings
from flintstream.datastream.checkpoint_config import CheckpointConfig
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.errors import UnsupportedByDesignError
from flintstream.state.factory import create_backend
from flintstream.state.hash_map import HashMapStateBackend as HashMapKeyedBackend
from flintstream.storage.custom import CustomFileStore
from flintstream.storage.local import LocalFileStore

INTERVAL = {"execution.checkpointing.interval": "10 s"}


class Remembering(HashMapKeyedBackend):
    """Record the operators for which it was created."""

    made: list[str] = []  # noqa: RUF012 - shared on purpose

    def __init__(self, operator, key_group):
        super().__init__(operator)
        Remembering.made.append(f"{operator} {key_group('k')}")


def with_backend(backend):
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.warns(DeprecationWarning, match="set_state_backend"):
        env.set_state_backend(backend)
    return env


def test_a_custom_backend_is_made_by_its_factory():
    settings = with_backend(CustomStateBackend(Remembering))._state_settings(batch=False)
    assert settings.backend == "custom"
    Remembering.made.clear()
    backend = create_backend(cloudpickle.loads(cloudpickle.dumps(settings)), "sum", lambda key: 7)
    assert isinstance(backend, Remembering)
    assert Remembering.made == ["sum 7"]


@pytest.fixture
def module():
    module = ModuleType("my_storage")
    vars(module).update(Backend=Remembering, NUMBER=5, Store=MemoryStore)
    sys.modules["my_storage"] = module
    yield module
    del sys.modules["my_storage"]


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.INT()))

    def process_element(self, value, ctx):
        self.seen.update((self.seen.value() or 0) + 1)
        yield value, self.seen.value()


@pytest.mark.parametrize(("mode", "made"), [("STREAMING", ["counts"]), ("BATCH", [])])
def test_the_operators_of_a_streaming_job_keep_their_state_in_a_custom_backend(mode, made):
    Remembering.made.clear()
    env = make_env(mode)
    with pytest.warns(DeprecationWarning, match="set_state_backend"):
        env.set_state_backend(CustomStateBackend(Remembering))
    counts = env.from_collection(["a", "b", "a"]).key_by(lambda word: word).process(Count()).name("counts")
    assert sorted(collect(counts)) == [("a", 1), ("a", 2), ("b", 1)]
    assert [name.split()[0] for name in Remembering.made] == made


def test_a_custom_backend_may_be_named_in_the_configuration(module):
    settings = state_settings(Configuration.from_dict({"state.backend.type": "my_storage:Backend"}))
    assert (settings.backend, settings.factory.factory) == ("custom", Remembering)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("my_storage:Nothing", "no attribute 'Nothing'"),
        ("my_storage:NUMBER", "cannot be called"),
        ("no_such:F", "no_such"),
    ],
)
def test_a_name_of_nothing_that_can_be_called_is_refused(module, name, why):
    with pytest.raises(UnsupportedByDesignError, match=rf"'state\.backend\.type' is '{name}'.*{why}"):
        state_settings(Configuration.from_dict({"state.backend.type": name}))


def test_the_configuration_may_choose_another_backend_afterwards():
    env = with_backend(CustomStateBackend(Remembering))
    env.configure(Configuration.from_dict({"state.backend.type": "hashmap"}))
    assert env._state_settings(batch=False).backend == "hashmap"


def test_the_name_of_a_custom_backend_without_one_is_explained():
    with pytest.raises(ValueError, match=r"refers to the argument of set_state_backend\(CustomStateBackend"):
        state_settings(Configuration.from_dict({"state.backend.type": "custom"}))


def test_what_is_no_backend_is_refused_when_it_is_made():
    factory = CustomStateBackend(lambda operator, key_group: [operator]).get_factory()  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"operator 'sum': .* \['sum'\] has no .*take_delta\(\)"):
        factory("sum", len)


JavaObject = type("JavaObject", (), {"__module__": "py4j.java_gateway", "__call__": lambda self: None})


@pytest.mark.parametrize("wrapped", [JavaObject(), object()])
def test_an_object_of_java_is_no_backend(wrapped):
    with pytest.raises(UnsupportedByDesignError, match="needs a Python class or function"):
        CustomStateBackend(wrapped)


class MemoryStore(LocalFileStore):
    """A user-defined store."""

    def __init__(self):
        super().__init__("/memory")


def test_a_custom_storage_keeps_the_checkpoints():
    store = MemoryStore()
    env = StreamExecutionEnvironment.get_execution_environment(INTERVAL)
    config = env.get_checkpoint_config()
    with pytest.warns(DeprecationWarning, match="set_checkpoint_storage"):
        config.set_checkpoint_storage(CustomCheckpointStorage(store))
    assert env._checkpoint_settings(batch=False).storage == CustomFileStore(store)
    with pytest.warns(DeprecationWarning, match="get_checkpoint_storage"):
        assert config.get_checkpoint_storage() == CustomCheckpointStorage(store)
    config.validate()
    assert isinstance(pickle.loads(pickle.dumps(config)).storage(), CustomCheckpointStorage)


class Recording:
    """Record the files that are written to another store."""

    written: list[str] = []  # noqa: RUF012 - all copies share it

    def __init__(self, store):
        self.store = store

    def __reduce__(self):
        return Recording, (self.store,)

    def __getattr__(self, name):
        return getattr(self.store, name)

    def write(self, path, data):
        self.written.append(path)
        self.store.write(path, data)

    def child(self, path):
        return Recording(self.store.child(path))


def slowly(word):
    sleep(0.02)
    return word


def test_a_job_takes_its_checkpoints_in_a_custom_storage(tmp_path):
    Recording.written.clear()
    env = make_env(settings={"execution.checkpointing.interval": "10 ms", "flintstream.epoch.max-duration": "10"})
    store: Any = Recording(LocalFileStore(str(tmp_path)))
    with pytest.warns(DeprecationWarning, match="set_checkpoint_storage"):
        env.get_checkpoint_config().set_checkpoint_storage(CustomCheckpointStorage(store))
    words = env.from_collection(["a", "b", "a", "b"]).map(slowly)
    assert max(collect(words.key_by(lambda word: word).process(Count()))) == ("b", 2)
    assert "chk-1/_metadata" in Recording.written


def test_a_custom_storage_may_be_named_in_the_configuration(module):
    settings = checkpoint_settings(
        Configuration.from_dict({**INTERVAL, "execution.checkpointing.storage": "my_storage:Store"})
    )
    assert isinstance(settings.storage, CustomFileStore)
    assert isinstance(settings.storage.store, MemoryStore)


def test_the_configuration_may_choose_another_storage_afterwards(tmp_path):
    configuration = Configuration.from_dict(INTERVAL)
    config = CheckpointConfig(configuration)
    with pytest.warns(DeprecationWarning, match="set_checkpoint_storage"):
        config.set_checkpoint_storage(CustomCheckpointStorage(MemoryStore()))
    configuration.set_string("execution.checkpointing.storage", "jobmanager")
    assert checkpoint_settings(configuration, config).storage is None


@pytest.mark.parametrize("wrapped", [JavaObject(), object(), MemoryStore])
def test_what_is_no_store_is_refused(wrapped):
    with pytest.raises(UnsupportedByDesignError, match="needs a Python object with the methods of a FileStore"):
        CustomCheckpointStorage(wrapped)


def test_a_store_of_a_script_brings_its_class_along(tmp_path):
    script = f"""
import pickle
import subprocess
from flintstream.storage.local import LocalFileStore
from flintstream.storage.custom import CustomFileStore
class Store(LocalFileStore):
    def child(self, path):
        return Store(self.uri(path))
    def hello(self):
        return "hello"
print(pickle.dumps(CustomFileStore(Store({str(tmp_path)!r})).child("job"), 5).hex())
"""
    output = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout  # noqa: S603
    store = pickle.loads(bytes.fromhex(output))
    store.write("x", b"1")
    assert store.hello() == "hello"
    assert (tmp_path / "job" / "x").read_bytes() == b"1"


def test_a_store_that_cannot_travel_to_the_workers_is_refused():
    store = MemoryStore()
    store.lock = Lock()  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"must be picklable, because workers also write to it"):
        CustomCheckpointStorage(store)


def more_threads(options):
    return options


def test_the_options_factory_of_rocksdb_goes_to_the_tasks():
    pytest.importorskip("rocksdict")
    backend = EmbeddedRocksDBStateBackend()
    backend.set_options(more_threads)
    env = with_backend(backend)
    assert env._state_settings(batch=False).factory is more_threads
    named = {"state.backend.type": "rocksdb", "state.backend.rocksdb.options-factory": "os.path:join"}
    assert state_settings(Configuration.from_dict(named)).factory is os.path.join
