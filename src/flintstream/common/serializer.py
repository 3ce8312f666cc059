"""Serializers for window namespaces and state, which users can implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from flintstream.common._generic import Generic, T

if TYPE_CHECKING:
    from io import BytesIO

__all__ = ["TypeSerializer", "VoidNamespaceSerializer", "void"]

void = b""
"""The namespace of state that does not belong to a window."""


class TypeSerializer(ABC, Generic[T]):
    """Converts values to bytes and back. Serializers with equal attributes are equal.

    >>> from io import BytesIO
    >>> class OneByte(TypeSerializer):
    ...     def serialize(self, element, stream):
    ...         stream.write(bytes([element]))
    ...
    ...     def deserialize(self, stream):
    ...         return stream.read(1)[0]
    >>> stream = BytesIO()
    >>> OneByte().serialize(7, stream)
    >>> OneByte().deserialize(BytesIO(stream.getvalue()))
    7
    >>> OneByte() == OneByte()
    True
    """

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
    """Serializes :data:`void`, its only value, as nothing.

    >>> from io import BytesIO
    >>> VoidNamespaceSerializer().deserialize(BytesIO()) == void
    True
    """

    def serialize(self, element: bytes, stream: BytesIO) -> None:
        """Write nothing."""

    def deserialize(self, stream: BytesIO) -> bytes:
        """Return :data:`void`."""
        return void
