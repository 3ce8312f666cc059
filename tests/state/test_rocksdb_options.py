"""RocksDB's options in the configuration reach the databases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import rocksdict

from flintstream.options.rocksdb import PREFIX
from flintstream.state.rocksdb.backend import RocksDBStateBackend, open_backend
from flintstream.state.rocksdb.directories import new_directory, remove_abandoned
from flintstream.state.rocksdb.options import PREDEFINED, READ, RocksDBOptions
from flintstream.state.settings import StateSettings


def options_of(tmp_path, keys, factory=None):
    """Return the options that RocksDB itself reports."""
    options = RocksDBOptions.of({PREFIX + key: value for key, value in keys.items()}, factory)
    backend = RocksDBStateBackend(str(tmp_path / "db"), lambda _: 0, options)
    try:
        (file,) = (tmp_path / "db").glob("*/OPTIONS-*")
        lines = file.read_text().splitlines()
    finally:
        backend.close()
    return dict(line.strip().split("=", 1) for line in lines if "=" in line)


@pytest.mark.parametrize(
    ("key", "value", "option", "expected"),
    [
        ("block.blocksize", "16 kb", "block_size", "16384"),
        ("block.metadata-blocksize", "8 kb", "metadata_block_size", "8192"),
        ("compaction.style", "universal", "compaction_style", "kCompactionStyleUniversal"),
        ("compaction.level.use-dynamic-size", "false", "level_compaction_dynamic_level_bytes", "false"),
        ("compaction.level.target-file-size-base", "32mb", "target_file_size_base", str(32 << 20)),
        ("compaction.level.max-size-level-base", "1 gb", "max_bytes_for_level_base", str(1 << 30)),
        ("compression.per.level", "LZ4_COMPRESSION", "compression", "kLZ4Compression"),
        (
            "compression.per.level",
            "NO_COMPRESSION;SNAPPY_COMPRESSION",
            "compression_per_level",
            "kNoCompression:kSnappyCompression",
        ),
        ("files.open", "500", "max_open_files", "500"),
        ("thread.num", "3", "max_background_jobs", "3"),
        ("use-bloom-filter", "true", "filter_policy", "bloomfilter"),
        ("writebuffer.size", "16 mb", "write_buffer_size", str(16 << 20)),
        ("writebuffer.count", "7", "max_write_buffer_number", "7"),
    ],
)
def test_a_key_of_the_configuration_reaches_rocksdb(tmp_path, key, value, option, expected):
    assert options_of(tmp_path, {key: value})[option] == expected
    assert options_of(tmp_path, {}).get(option) != expected


def test_predefined_options_are_those_that_flink_documents(tmp_path):
    found = options_of(tmp_path, {"predefined-options": "SPINNING_DISK_OPTIMIZED_HIGH_MEM"})
    assert found["max_background_jobs"] == "4"
    assert found["max_open_files"] == "-1"
    assert found["use_fsync"] == "false"
    assert found["level_compaction_dynamic_level_bytes"] == "true"
    assert found["target_file_size_base"] == str(256 << 20)
    assert found["max_bytes_for_level_base"] == str(1 << 30)
    assert found["write_buffer_size"] == str(64 << 20)
    assert found["min_write_buffer_number_to_merge"] == "3"
    assert found["max_write_buffer_number"] == "4"
    assert found["block_size"] == str(128 << 10)


@pytest.mark.parametrize("name", PREDEFINED)
def test_every_set_of_predefined_options_opens(tmp_path, name):
    assert options_of(tmp_path, {"predefined-options": name})["max_open_files"] == "-1"


def test_what_is_configured_counts_more_than_what_is_predefined(tmp_path):
    keys = {"predefined-options": "SPINNING_DISK_OPTIMIZED_HIGH_MEM", "writebuffer.count": "9"}
    found = options_of(tmp_path, keys)
    assert (found["max_write_buffer_number"], found["min_write_buffer_number_to_merge"]) == ("9", "3")


@pytest.mark.parametrize("key", [option.key for option in READ])
def test_a_value_that_is_none_is_refused_with_the_name_of_its_key(key):
    with pytest.raises(ValueError, match=f"'{key}' must be .*, got 'much'"):
        RocksDBOptions.of({key: "much"})


def larger_buffers(options):
    options.set_write_buffer_size(12 << 20)
    return options


class LargerBuffers:
    def __call__(self, options):
        return larger_buffers(options)


@pytest.mark.parametrize("factory", [larger_buffers, LargerBuffers, LargerBuffers()])
def test_a_factory_has_the_last_word(tmp_path, factory):
    assert options_of(tmp_path, {"writebuffer.size": "16 mb"}, factory)["write_buffer_size"] == str(12 << 20)


def test_a_factory_must_return_options(tmp_path):
    with pytest.raises(TypeError, match=r"options factory .* must return the rocksdict Options .* returned None"):
        options_of(tmp_path, {}, lambda options: options.set_write_buffer_size(1))


def test_the_databases_of_a_worker_share_their_memory_unless_told_otherwise():
    assert RocksDBOptions.of({}).shared_memory == 128 << 20
    assert RocksDBOptions.of({f"{PREFIX}memory.fixed-per-slot": "64 mb"}).shared_memory == 64 << 20
    assert RocksDBOptions.of({f"{PREFIX}memory.managed": "false"}).shared_memory is None


def test_write_buffers_stay_within_the_memory_that_is_shared(tmp_path):
    options = RocksDBOptions.of({f"{PREFIX}memory.fixed-per-slot": "8 mb", f"{PREFIX}memory.write-buffer-ratio": "0.5"})
    backends = [RocksDBStateBackend(str(tmp_path / str(n)), lambda _: 0, options) for n in range(3)]
    try:
        for backend in backends:
            for _ in range(20):
                batch = backend._store.batch()
                for number in range(1000):
                    batch.put(b"%d" % number, os.urandom(1000))
                backend._store.write(batch)
        used = sum(int(b._store.db.property_int_value("rocksdb.cur-size-active-mem-table") or 0) for b in backends)
        assert used < 16 << 20  # of 60 that were written; a buffer that is full counts until its database writes again
    finally:
        for backend in backends:
            backend.close()


# -- directories -------------------------------------------------------------------------------------------------------


def test_databases_take_turns_among_the_directories(tmp_path):
    places = [str(tmp_path / name) for name in "abc"]
    settings = StateSettings("rocksdb", {f"{PREFIX}localdir": f"{places[0]}, file://{places[1]},{places[2]}"})
    backends = [open_backend(settings, "op", lambda _: 0) for _ in range(6)]
    try:
        assert [len(list(Path(place).iterdir())) for place in places] == [2, 2, 2]
    finally:
        for backend in backends:
            backend.close()
    assert [list(Path(place).iterdir()) for place in places] == [[], [], []]


def test_databases_of_dead_workers_are_removed_those_of_living_ones_are_not(tmp_path):
    program = (
        "import sys, os\n"
        "from flintstream.state.rocksdb.backend import RocksDBStateBackend\n"
        "from flintstream.state.rocksdb.directories import new_directory\n"
        "backend = RocksDBStateBackend(new_directory([sys.argv[1]]), lambda _: 0)\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
        "os._exit(1)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    path = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        (directory,) = tmp_path.iterdir()
        remove_abandoned(tmp_path)
        assert directory.exists()
    remove_abandoned(tmp_path)
    assert not directory.exists()


def test_a_directory_is_kept_while_its_process_replaces_the_database(tmp_path):
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from flintstream.state.rocksdb.directories import new_directory\n"
        "database = Path(new_directory([sys.argv[1]]), 'db-0')\n"
        "database.mkdir()\n"
        "Path(database, 'LOCK').touch()\n"  # nothing holds it, as between two databases
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    path = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        remove_abandoned(tmp_path)
        assert len(list(tmp_path.glob("*/db-0/LOCK"))) == 1
    remove_abandoned(tmp_path)
    assert not list(tmp_path.iterdir())


def test_directories_of_other_users_and_links_to_directories_are_left_alone(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory to another user")
    foreign, target, link = tmp_path / "flintstream-rocksdb-1", tmp_path / "target", tmp_path / "flintstream-rocksdb-2"
    for directory in (foreign, target):
        directory.mkdir()
        (directory / "lock").touch()
    os.chown(foreign, 65534, 65534)
    link.symlink_to(target)
    trap = tmp_path / "flintstream-rocksdb-3"
    trap.mkdir()
    (tmp_path / "mine").touch()
    (trap / "lock").symlink_to(tmp_path / "mine")
    remove_abandoned(tmp_path)
    assert all(path.exists() for path in (foreign, target / "lock", link, trap))


def test_a_directory_without_a_database_yet_is_left_alone(tmp_path):
    fresh = tmp_path / "flintstream-rocksdb-1-x"
    fresh.mkdir()
    remove_abandoned(tmp_path)
    own = new_directory([str(tmp_path)])
    assert fresh.exists()
    assert Path(own).exists()


# -- without the package -----------------------------------------------------------------------------------------------


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    program = (
        "import sys\n"
        "sys.modules['rocksdict'] = None\n"
        "from flintstream.state.factory import create_backend\n"
        "from flintstream.state.settings import StateSettings\n"
        "create_backend(StateSettings('rocksdb'), 'op', hash)\n"
    )
    path = os.pathsep.join(path for path in sys.path if path)
    run = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert "EmbeddedRocksDBStateBackend needs the package rocksdict: pip install 'flintstream[rocksdb]'" in run.stderr


def test_the_stubs_of_rocksdict_do_not_mislead_about_the_log():
    writing = rocksdict.WriteOptions()
    assert isinstance(writing.disable_wal, bool)
