"""The file ``_metadata``: its keys do not change when members of classes are renamed."""

from __future__ import annotations

import json

from flintstream.checkpoint.metadata import Metadata, from_bytes, to_bytes


def test_the_file_calls_the_purpose_kind():
    metadata = Metadata("savepoint", 7, "id", "job", 0, "1.0", ())
    data = to_bytes(metadata)
    content = json.loads(data)["content"]
    assert content["kind"] == "savepoint"
    assert "purpose" not in content
    assert from_bytes(data, "here") == metadata
