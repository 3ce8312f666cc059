"""The registry of types that the codec writes by content. Upper layers add their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Extension(NamedTuple):
    """The conversions between values of one type and plain data."""

    tag: str
    to_plain: Callable[[Any], Any]
    from_plain: Callable[[Any], Any]
    to_key: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that was not decoded, because that would run code. It encodes to its original bytes."""

    code: int
    data: bytes


BY_TYPE: dict[type, Extension] = {}
BY_TAG: dict[str, Extension] = {}


def register(
    tag: str,
    type: type,
    to_plain: Callable[[Any], Any],
    from_plain: Callable[[Any], Any],
    *,
    to_key: Callable[[Any], Any] | None = None,
) -> None:
    """Write values of a type as ``tag`` and the result of ``to_plain``, without pickle.

    Args:
        tag: the permanent name of the type in files. Registering the same type again replaces its functions.
        type: the exact class. Subclasses are not included.
        to_plain: returns a value that the codec already knows, usually a tuple.
        from_plain: the inverse of ``to_plain``.
        to_key: returns the same value for equal objects, for ``encode_key``; ``to_plain`` by default.

    Raises:
        ValueError: The tag belongs to another type.
    """
    for other, extension in BY_TYPE.items():
        if extension.tag == tag and _path(other) != _path(type):
            raise ValueError(f"the tag {tag!r} of {_path(type)} belongs to {_path(other)}")
    BY_TYPE[type] = BY_TAG[tag] = Extension(tag, to_plain, from_plain, to_key or to_plain)


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
