"""The expected values come from PyFlink 2.3.0; for the deprecated backends they are the documented ones."""

from __future__ import annotations

import pickle
import re

import pytest

from flintstream.common.configuration import Configuration
from flintstream.datastream.checkpoint_storage import (
    CheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from flintstream.datastream.state_backend import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    FsStateBackend,
    HashMapStateBackend,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    StateBackend,
)
from flintstream.errors import UnsupportedByDesignError

PATH = "file:///data/x"
deprecated = pytest.mark.filterwarnings("ignore:.*StateBackend still works:DeprecationWarning")


def as_keys(settings):
    configuration = Configuration()
    settings.write_to(configuration)
    return configuration.to_dict()


def from_keys(entries):
    return StateBackend.from_configuration(Configuration.from_dict(entries))


def full_rocksdb():
    backend = EmbeddedRocksDBStateBackend(True)
    backend.set_db_storage_paths("/disk1", "/disk2")
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_number_of_transfer_threads(8)
    return backend


def test_rocksdb_has_the_defaults_of_pyflink():
    backend = EmbeddedRocksDBStateBackend()
    assert not backend.is_incremental_checkpoints_enabled()
    assert backend.get_predefined_options() is PredefinedOptions.DEFAULT
    assert backend.get_options() is None
    assert backend.get_number_of_transfer_threads() == 4
    assert backend.get_db_storage_paths() == []


@pytest.mark.parametrize("enabled", [True, False])
def test_rocksdb_keeps_whether_checkpoints_are_incremental(enabled):
    assert EmbeddedRocksDBStateBackend(enabled).is_incremental_checkpoints_enabled() is enabled
    assert EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=enabled) == EmbeddedRocksDBStateBackend(enabled)


def test_rocksdb_paths_lose_their_scheme_and_can_be_unset():
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths("/data/a/", "file:///data/b/", "file:/c")
    assert backend.get_db_storage_paths() == ["/data/a", "/data/b", "/c"]
    backend.set_db_storage_paths()
    assert backend.get_db_storage_paths() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.set_db_storage_paths("a/b"), "must be absolute, got 'a/b'"),
        (lambda b: b.set_db_storage_paths(""), "must be absolute, got ''"),
        (lambda b: b.set_db_storage_paths("hdfs://a/b"), "must be on a local disk, got 'hdfs://a/b'"),
        (lambda b: b.set_number_of_transfer_threads(0), "the number of transfer threads must be at least 1, got 0"),
    ],
)
def test_rocksdb_refuses_values_out_of_range(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(EmbeddedRocksDBStateBackend())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EmbeddedRocksDBStateBackend("yes"), "must be True or False, got 'yes'"),  # type: ignore[arg-type]
        (lambda: EmbeddedRocksDBStateBackend().set_db_storage_paths(5), "must be a str, got 5"),  # type: ignore[arg-type]
        (lambda: EmbeddedRocksDBStateBackend().set_predefined_options("DEFAULT"), "one of PredefinedOptions.DEFAULT,"),  # type: ignore[arg-type]
    ],
)
def test_rocksdb_refuses_values_of_the_wrong_type(call, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        call()


def test_what_needs_a_java_class_is_refused_with_advice():
    with pytest.raises(UnsupportedByDesignError, match=r"'org\.Foo', which is not the name .*set_predefined_options"):
        EmbeddedRocksDBStateBackend().set_options("org.Foo")
    with pytest.raises(UnsupportedByDesignError, match="otherwise use HashMapStateBackend or Embedded"):
        CustomStateBackend(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [HashMapStateBackend, EmbeddedRocksDBStateBackend, full_rocksdb])
def test_a_backend_can_be_pickled(make):
    assert pickle.loads(pickle.dumps(make())) == make()


def test_backends_stand_for_flinks_keys():
    assert as_keys(HashMapStateBackend()) == {"state.backend.type": "hashmap"}
    assert as_keys(EmbeddedRocksDBStateBackend()) == {"state.backend.type": "rocksdb"}
    assert as_keys(full_rocksdb()) == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "state.backend.rocksdb.localdir": "/disk1,/disk2",
        "state.backend.rocksdb.predefined-options": "FLASH_SSD_OPTIMIZED",
        "state.backend.rocksdb.checkpoint.transfer.thread.num": "8",
    }


def test_backends_are_read_back_from_the_keys():
    assert from_keys({}) == HashMapStateBackend()
    assert from_keys({"state.backend.type": "HashMap"}) == HashMapStateBackend()
    assert from_keys(as_keys(full_rocksdb())) == full_rocksdb()


def test_the_older_keys_are_read_too():
    backend = from_keys({"state.backend": "rocksdb", "state.backend.incremental": "true"})
    assert isinstance(backend, EmbeddedRocksDBStateBackend)
    assert backend.is_incremental_checkpoints_enabled()


def test_what_a_backend_leaves_open_stays_as_configured():
    configuration = Configuration().set_string("execution.checkpointing.incremental", "true")
    EmbeddedRocksDBStateBackend().write_to(configuration)
    backend = StateBackend.from_configuration(configuration)
    assert isinstance(backend, EmbeddedRocksDBStateBackend)
    assert backend.is_incremental_checkpoints_enabled()


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            {"state.backend.type": "paper"},
            "'state.backend.type' must be 'hashmap' or 'rocksdb', or 'module:function' for",
        ),
        (
            {"state.backend": "rocksdb", "state.backend.rocksdb.predefined-options": "FAST"},
            "'state.backend.rocksdb.predefined-options' must be one of DEFAULT, SPINNING_DISK_OPTIMIZED",
        ),
        (
            {"state.backend": "rocksdb", "state.backend.rocksdb.checkpoint.transfer.thread.num": "0"},
            "'state.backend.rocksdb.checkpoint.transfer.thread.num' must be a whole number of at least 1, got '0'",
        ),
    ],
)
def test_a_bad_value_of_a_key_is_named(entries, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        from_keys(entries)


# -- backends of PyFlink 1 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "instead"),
    [
        (MemoryStateBackend, "HashMapStateBackend, with JobManagerCheckpointStorage"),
        (lambda: FsStateBackend(PATH), "HashMapStateBackend, with FileSystemCheckpointStorage"),
        (lambda: RocksDBStateBackend(PATH), "EmbeddedRocksDBStateBackend, with FileSystemCheckpointStorage"),
    ],
)
def test_a_backend_of_pyflink_1_warns_once_and_says_what_to_use(make, instead):
    with pytest.warns(DeprecationWarning, match=instead) as warned:
        make()
    assert len(warned) == 1


@deprecated
def test_memory_state_backend_is_a_hash_map_with_checkpoints_in_memory():
    backend = MemoryStateBackend()
    assert isinstance(backend, HashMapStateBackend)
    assert backend.get_max_state_size() == MemoryStateBackend.DEFAULT_MAX_STATE_SIZE == 5242880
    assert backend.is_using_asynchronous_snapshots()
    backend = MemoryStateBackend("file:///meta", "file:///save", 100, False)
    assert not backend.is_using_asynchronous_snapshots()
    configuration = Configuration()
    backend.write_to(configuration)
    storage = CheckpointStorage.from_configuration(configuration)
    assert isinstance(storage, JobManagerCheckpointStorage)
    assert (storage.get_checkpoint_path(), storage.get_savepoint_path()) == ("file:/meta", "file:/save")
    assert storage.get_max_state_size() == 100


@deprecated
def test_fs_state_backend_is_a_hash_map_with_checkpoints_in_files():
    backend = FsStateBackend(PATH, "file:///save", 100, 50)
    assert isinstance(backend, HashMapStateBackend)
    assert (backend.get_checkpoint_path(), backend.get_min_file_size_threshold()) == ("file:/data/x", 100)
    assert (backend.get_write_buffer_size(), FsStateBackend(PATH).get_write_buffer_size()) == (50, 4096)
    configuration = Configuration()
    backend.write_to(configuration)
    storage = FileSystemCheckpointStorage(PATH, 100, 50)
    storage.set_savepoint_path("file:///save")
    assert CheckpointStorage.from_configuration(configuration) == storage
    assert StateBackend.from_configuration(configuration) == HashMapStateBackend()


@deprecated
def test_rocksdb_state_backend_is_rocksdb_with_checkpoints_in_files():
    backend = RocksDBStateBackend(PATH, True)
    assert isinstance(backend, EmbeddedRocksDBStateBackend)
    assert backend.is_incremental_checkpoints_enabled()
    backend.set_number_of_transfering_threads(2)
    assert backend.get_number_of_transfering_threads() == 2
    assert backend.get_checkpoint_backend() == FsStateBackend(PATH)
    configuration = Configuration()
    backend.write_to(configuration)
    assert CheckpointStorage.from_configuration(configuration) == FileSystemCheckpointStorage(PATH)
    assert isinstance(StateBackend.from_configuration(configuration), EmbeddedRocksDBStateBackend)


@deprecated
def test_rocksdb_state_backend_takes_the_storage_of_another_backend():
    in_memory = MemoryStateBackend()
    assert RocksDBStateBackend(checkpoint_stream_backend=in_memory).get_checkpoint_backend() is in_memory


@deprecated
@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (FsStateBackend, ValueError, "needs checkpoint_directory_uri"),
        (RocksDBStateBackend, ValueError, "needs either checkpoint_data_uri"),
        (
            lambda: RocksDBStateBackend(checkpoint_stream_backend=HashMapStateBackend()),
            TypeError,
            "must be an FsStateBackend or a MemoryStateBackend, got HashMapStateBackend",
        ),
    ],
)
def test_a_backend_of_pyflink_1_says_what_it_lacks(make, error, message):
    with pytest.raises(error, match=message):
        make()
