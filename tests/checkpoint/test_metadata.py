"""The file ``_metadata``: its keys do not change when members of classes are renamed."""

from __future__ import annotations

import json

import pytest

from flintstream.checkpoint.metadata import ChainState, Metadata, NativeFile, StatePiece, from_bytes, to_bytes
from flintstream.errors import CorruptCheckpointError


def test_the_file_calls_the_purpose_kind():
    metadata = Metadata("savepoint", 7, "id", "job", 0, "1.0", ())
    data = to_bytes(metadata)
    content = json.loads(data)["content"]
    assert content["kind"] == "savepoint"
    assert "purpose" not in content
    assert from_bytes(data, "here") == metadata


@pytest.mark.parametrize("job_id", ["", ".", "..", "../other", "a/b", "/etc", "x" * 65, "a\0", 7])
def test_the_id_of_a_job_is_the_name_of_a_directory(job_id):
    data = to_bytes(Metadata("checkpoint", 7, job_id, "job", 0, "1.0", ()))
    with pytest.raises(CorruptCheckpointError, match="it cannot be read as metadata"):
        from_bytes(data, "here")


@pytest.mark.promise("S18")
@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b", "a\0b"])
@pytest.mark.parametrize("native", [False, True])
def test_paths_that_lead_out_of_the_checkpoint_are_refused(path, native):
    piece = StatePiece(native=(NativeFile("uid/1.sst", path, 1, ""),)) if native else StatePiece(path)
    data = to_bytes(Metadata("savepoint", 7, "id", "job", 0, "1.0", (ChainState((), ((piece,),)),)))
    with pytest.raises(CorruptCheckpointError, match="is not a path within a store"):
        from_bytes(data, "here")
