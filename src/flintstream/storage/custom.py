"""File stores that the user's program defines."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code import by_value

if TYPE_CHECKING:
    from flintstream.storage.file_store import FileStore


class CustomFileStore:
    """A wrapper that pickles a user's store by value, because workers cannot import the user's script.

    All methods delegate to the store.
    """

    def __init__(self, store: FileStore) -> None:
        """Wrap ``store``."""
        self.store = store

    def child(self, path: str) -> CustomFileStore:
        """Return the store of a directory."""
        return CustomFileStore(self.store.child(path))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CustomFileStore) and self.store == other.store

    def __hash__(self) -> int:
        return hash(self.store)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (by_value.dumps(self.store, names=False),)


def _unpickled(data: bytes) -> CustomFileStore:
    return CustomFileStore(pickle.loads(data))
