"""Records that a writer has prepared for the committer of Kafka's sink."""

from __future__ import annotations

from pathlib import Path

import pytest

from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.kafka.serializing import RecordSerializer
from flintstream.connectors.kafka.sink import LONGEST_NAME, KafkaOutput, StagingWriter
from flintstream.connectors.kafka.staging import Prepared
from flintstream.connectors.sink import WriterContext
from flintstream.storage.local import LocalFileStore
from flintstream.storage.memory import MemoryFileStore


class Refusing(MemoryFileStore):
    """A store whose deletions fail with an error that is not an OSError, like those of object store clients."""

    asked = 0

    def delete(self, name):
        self.asked += 1
        raise RuntimeError("access denied")


def test_a_file_that_cannot_be_deleted_fails_nothing_once_it_is_committed():
    store = Refusing("refusing")
    Prepared("name", "run", 0, "topic", 1, 10, 0, None, "memory://refusing", "file").delete(store)
    assert store.asked == 1


@pytest.mark.parametrize("uid", ["../../x", "..", "a/..", "/absolute", "a\0b", "x" * 300, "größe"])
def test_any_uid_has_its_own_directory_and_a_name_that_kafka_accepts(uid, tmp_path):
    inner = tmp_path / "inner"
    others = ["x", "other/x", f"{uid} "]
    writers = [
        StagingWriter(
            KafkaOutput({}, RecordSerializer(SimpleStringSchema(), topic="t"), exactly_once=True),
            WriterContext(0, 1, "0-0-a", f"job/{other}", run="run", staging=LocalFileStore(str(inner))),
        )
        for other in (uid, *others)
    ]
    stores = [writer._store.uri("") for writer in writers if writer._store is not None]
    assert len(set(stores)) == len(writers)
    assert {Path(store).parent for store in stores} == {inner}
    assert len({writer._name for writer in writers}) == len(writers)
    assert all(len(writer._name) <= LONGEST_NAME and "\0" not in writer._name for writer in writers)
