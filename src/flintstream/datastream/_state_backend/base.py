"""State backends in general, and the default one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from flintstream.datastream._settings import Settings
from flintstream.options.state import BACKEND

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration


class StateBackend(Settings, ABC):
    """Where a program keeps its state; see the subclasses."""

    kind: ClassVar[str]
    """The value of ``state.backend.type`` that stands for it."""

    @abstractmethod
    def write_to(self, configuration: Configuration) -> None:
        """Set the keys that stand for this backend. PyFlink has no such method."""

    @staticmethod
    def from_configuration(configuration: Configuration) -> StateBackend:
        """Return the backend that the keys stand for, by default a hash map. PyFlink has no such method.

        Raises:
            ValueError: a value is no valid setting; the message names its key.
        """
        from flintstream.datastream._state_backend.custom import CustomStateBackend  # noqa: PLC0415 - subclasses of this
        from flintstream.datastream._state_backend.rocksdb import rocksdb_of  # noqa: PLC0415

        key, value = configuration.find(BACKEND) or (BACKEND.key, BACKEND.default)
        kind = value.lower()
        if kind in {"hashmap", "jobmanager", "filesystem"}:  # the last two are names of Flink 1.12
            return HashMapStateBackend()
        if kind == "rocksdb":
            return rocksdb_of(configuration)
        if ":" in value:
            return CustomStateBackend.named(value, key)
        hint = ""
        if kind == CustomStateBackend.kind:
            hint = "; 'custom' stands for what set_state_backend(CustomStateBackend(...)) is given"
        raise ValueError(
            f"'{key}' must be 'hashmap' or 'rocksdb', or 'module:function' for a backend of your own, "
            f"got '{value}'{hint}"
        )


class HashMapStateBackend(StateBackend):
    """Keeps state as Python objects in the memory of the workers; the default, and the fastest while state fits.

    >>> from flintstream.common.configuration import Configuration
    >>> StateBackend.from_configuration(Configuration())
    HashMapStateBackend()
    """

    kind = "hashmap"

    def write_to(self, configuration: Configuration) -> None:
        """Set the key that stands for this backend. PyFlink has no such method."""
        configuration.set_string(BACKEND.key, self.kind)
