"""Savepoints are deleted with everything that belongs to them, and nothing else is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.savepoint_api.programs import checkpoint
from tests.savepoints.test_matrix import BACKENDS, savepoint

from flintstream.cli import main
from flintstream.common import Types
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.errors import CheckpointError
from flintstream.savepoint import Savepoint, SavepointWriter
from flintstream.storage.local import LocalFileStore


@pytest.fixture
def written(tmp_path):
    visits = ValueStateDescriptor("visits", Types.LONG())
    writer = SavepointWriter.new(8).with_state("shop", visits, [("ann", 3)])
    return Path(writer.write(str(tmp_path / "savepoints" / "made")))


def dispose(*arguments):
    return CliRunner().invoke(main, ["savepoint", *map(str, arguments)])


@pytest.mark.parametrize("option", ["-d", "--dispose"])
def test_a_command_deletes_a_savepoint(written, option):
    result = dispose(option, written)
    assert (result.exit_code, result.stdout) == (0, f"Savepoint '{written}' disposed.\n")
    assert not written.exists()
    assert written.parent.exists()


def test_a_uri_names_it_too(written):
    assert dispose("-d", written.as_uri()).exit_code == 0
    assert not written.exists()


@pytest.mark.parametrize("state", BACKENDS)
def test_nothing_remains_of_a_savepoint_that_a_job_took(tmp_path, state):
    path = Path(savepoint(tmp_path, state, 2)[0])
    assert Savepoint.load(str(path)).dispose() == []
    assert not path.exists()


@pytest.mark.parametrize("state", BACKENDS)
def test_a_checkpoint_is_refused_and_stays(tmp_path, state):
    path = checkpoint(tmp_path, state, 2)[0]
    before = sorted(Path(path).rglob("*"))
    result = dispose("-d", path)
    assert result.exit_code == 1
    assert "is a checkpoint of the job" in result.stderr
    assert sorted(Path(path).rglob("*")) == before


def test_other_files_of_the_directory_remain(written):
    Path(written, "notes").mkdir()
    Path(written, "notes", "mine.txt").write_text("x")
    result = dispose("-d", written)
    assert result.exit_code == 0
    assert "other files, which remain: notes/mine.txt" in result.stderr
    assert [str(path.relative_to(written)) for path in written.rglob("*")] == ["notes", "notes/mine.txt"]


def test_what_a_link_leads_to_remains(written, tmp_path):
    outside = tmp_path / "outside"
    [state] = [path for path in written.iterdir() if path.name != "_metadata"]
    state.rename(outside)
    state.symlink_to(outside)
    assert dispose("-d", written).exit_code == 0
    assert outside.exists()
    assert not written.exists()


def test_a_forged_savepoint_names_no_file_behind_a_linked_directory(written, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    document = json.loads((written / "_metadata").read_text())
    piece = document["content"]["chains"][0]["subtasks"][0][0]
    (written / piece["path"]).rename(outside / "state")
    (written / "linked").symlink_to(outside)
    piece["path"] = "linked/state"
    text = json.dumps(document["content"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    document["checksum"] = hashlib.sha256(text.encode()).hexdigest()
    (written / "_metadata").write_text(json.dumps(document))
    assert Savepoint.load(str(written)).metadata.paths() == {"linked/state"}
    assert dispose("-d", written).exit_code == 0
    assert (outside / "state").exists()
    assert not written.exists()


def test_no_job_starts_from_what_is_left_if_a_file_cannot_be_deleted(written, monkeypatch):
    delete = LocalFileStore.delete

    def refuse(self, path):
        if path != "_metadata":
            raise PermissionError(13, "Permission denied", path)
        delete(self, path)

    monkeypatch.setattr(LocalFileStore, "delete", refuse)
    with pytest.raises(CheckpointError, match=r"cannot delete .*made.*Permission denied"):
        Savepoint.load(str(written)).dispose()
    with pytest.raises(CheckpointError):
        Savepoint.load(str(written))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-d", "{}/nothing"], 1, "nothing"),
        (["-d", "{}", "counts"], 2, "--dispose deletes a savepoint, whichever job took it: leave out 'counts'"),
        ([], 2, "Missing argument 'JOB': 'flintstream list' shows the running jobs"),
    ],
)
def test_what_cannot_be_meant_is_an_error(written, arguments, code, message):
    result = dispose(*(argument.format(written) for argument in arguments))
    assert result.exit_code == code
    assert message in result.stderr
    assert written.exists()
