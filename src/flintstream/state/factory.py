"""The factory of keyed state backends, one per operator and subtask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.state.backend import KeyedStateBackend
    from flintstream.state.settings import StateSettings


def create_backend(settings: StateSettings, operator: str, key_group: Callable[[Any], int]) -> KeyedStateBackend:
    """Return an empty backend.

    Args:
        settings: the kind of backend and its options.
        operator: the operator's name, for messages.
        key_group: returns the key group of a key.
    """
    if settings.backend == "rocksdb":
        from flintstream.state.rocksdb.backend import open_backend

        return open_backend(settings, operator, key_group)
    if settings.backend == "custom":
        backend: KeyedStateBackend = settings.factory(operator, key_group)
        return backend
    from flintstream.state.hash_map import HashMapStateBackend

    return HashMapStateBackend(operator)
