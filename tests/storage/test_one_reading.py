"""All readers of a path or URI resolve it to the same location."""

from __future__ import annotations

import ast
from pathlib import Path

import click
import pytest

from flintstream.checkpoint.settings import state_directory
from flintstream.cli.places import absolute
from flintstream.common.serialization import Encoder
from flintstream.coordinator.checkpointing import recovery
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.checkpoint_storage import FileSystemCheckpointStorage
from flintstream.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from flintstream.datastream.state_backend import EmbeddedRocksDBStateBackend
from flintstream.errors import CheckpointError
from flintstream.storage.stores import file_store

SOURCE = Path(__file__).parents[2] / "src" / "flintstream"


def environment(settings: dict[str, str] | None = None) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", **(settings or {})})


def checkpoints(spelling: str) -> str:
    settings = environment({"execution.checkpointing.interval": "1 h", "execution.checkpointing.dir": spelling})
    storage = settings._checkpoint_settings(batch=False).storage
    assert storage is not None
    return storage.uri("")


def storage_object(spelling: str) -> str:
    return file_store(FileSystemCheckpointStorage(spelling).get_checkpoint_path()).uri("")


def savepoints(spelling: str) -> str:
    settings = environment({"execution.checkpointing.savepoint-dir": spelling})._checkpoint_settings(batch=False)
    assert settings.savepoint_directory is not None
    return file_store(settings.savepoint_directory).uri("")


def command_line(spelling: str) -> str:
    return file_store(absolute(spelling)).uri("")


def restored(spelling: str) -> str:
    with pytest.raises(CheckpointError) as caught:
        recovery.load(spelling)
    return str(caught.value).removeprefix("there is no checkpoint or savepoint at ").removesuffix(": no file _metadata")


def source(spelling: str) -> str:
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), spelling)._paths[0]


def sink(spelling: str) -> str:
    return FileSink.for_row_format(spelling, Encoder.simple_string_encoder()).build()._base_path


def states(spelling: str) -> str:
    return str(state_directory({"flintstream.state.dir": spelling}))


def database(spelling: str) -> str:
    backend = EmbeddedRocksDBStateBackend()
    backend.set_db_storage_paths(spelling)
    return backend.get_db_storage_paths()[0]


ANYWHERE = [checkpoints, storage_object, savepoints, command_line, restored, source, sink, states]
ON_THIS_MACHINE = [database]
WITH_A_SCHEME_ONLY = {checkpoints, storage_object}
"""As in Flink."""
ABSOLUTE_ONLY = {database}
"""As in Flink."""


@pytest.mark.parametrize("read", ANYWHERE + ON_THIS_MACHINE)
@pytest.mark.parametrize(
    "spelling",
    [
        "{}/x",
        "{}//y/../x/",
        "file:{}/x",
        "file://{}/x",
        "file:///{}//x/",
        "FILE://{}/x",
        "file://localhost{}/x",
        "file://LOCALHOST{}/x",
        " file://{}/x ",
    ],
)
def test_spellings_of_a_local_path_mean_the_same_everywhere(read, spelling, tmp_path):
    base = tmp_path / "a b%20~"
    base.mkdir()
    if ":" not in spelling and read in WITH_A_SCHEME_ONLY:
        with pytest.raises(ValueError, match="must be a URI with a scheme"):
            read(spelling.format(base))
    else:
        assert read(spelling.format(base)) == f"{base}/x"


@pytest.mark.parametrize("read", ANYWHERE + ON_THIS_MACHINE)
@pytest.mark.parametrize("spelling", ["x", "./x", "../here/x", "~/../x"])
def test_a_relative_path_starts_in_the_current_directory_everywhere(read, spelling, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    if read in WITH_A_SCHEME_ONLY | ABSOLUTE_ONLY:
        with pytest.raises(ValueError, match=r"must be a URI with a scheme|must be absolute"):
            read(spelling)
    else:
        assert read(spelling) == f"{tmp_path}/here/x"


@pytest.mark.parametrize("read", ANYWHERE)
@pytest.mark.parametrize("spelling", ["memory://bucket/a/x", "MEMORY://bucket/a/x/", "memory://bucket//a/./x"])
def test_spellings_of_a_uri_mean_the_same_everywhere(read, spelling):
    assert read(spelling) == "memory://bucket/a/x"


@pytest.mark.parametrize("read", ANYWHERE + ON_THIS_MACHINE)
@pytest.mark.parametrize("spelling", ["file://host/x", "FILE://host/x", "file:x", "file://"])
def test_a_local_uri_that_names_a_host_or_no_absolute_path_is_refused_everywhere(read, spelling):
    with pytest.raises((ValueError, click.BadParameter), match=r"must not name a host|must be an absolute path"):
        read(spelling)


@pytest.mark.parametrize("read", ON_THIS_MACHINE)
@pytest.mark.parametrize("spelling", ["s3://bucket/x", "memory://x/y", "hdfs:///x"])
def test_what_must_be_local_is_refused_elsewhere(read, spelling):
    with pytest.raises(ValueError, match="must be on"):
        read(spelling)


def names_used(tree: ast.AST) -> set[str]:
    """Return the imported modules and the dotted names that are read."""
    names = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize(("name", "modules"), [("fsspec", {"remote.py"}), ("os.fsync", {"local.py"})])
def test_only_storage_uses_fsspec_and_brings_files_to_disk(name, modules):
    files = sorted(SOURCE.rglob("*.py"))
    users = {path for path in files if name in names_used(ast.parse(path.read_text(encoding="utf-8")))}
    assert users == {SOURCE / "storage" / module for module in modules}
