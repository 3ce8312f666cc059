"""Records that a writer has prepared for the committer of Kafka's sink."""

from __future__ import annotations

from flintstream.connectors.kafka.staging import Prepared
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
