"""Serializers that a user writes, for the namespaces of windows and for state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from flintstream.common._generic import Generic, T

if TYPE_CHECKING:
    from io import BytesIO

__all__ = ["TypeSerializer", "VoidNamespaceSerializer", "void"]

void = b""
"""The namespace of state that belongs to no window."""


class TypeSerializer(ABC, Generic[T]):
    """Turns values into bytes and back. Serializers with the same attributes are equal."""

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO) -> None:
        """Write ``element`` to ``stream``."""

    @abstractmethod
    def deserialize(self, stream: BytesIO) -> T:
        """Read one value from ``stream``."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class VoidNamespaceSerializer(TypeSerializer[bytes]):
    """Serializes the one value :data:`void`, to nothing."""

    def serialize(self, element: bytes, stream: BytesIO) -> None:
        """Write nothing."""

    def deserialize(self, stream: BytesIO) -> bytes:  # noqa: ARG002 - the contract
        """Return :data:`void`."""
        return void
