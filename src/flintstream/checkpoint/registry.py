"""Which types the codec can write by content, and how: upper layers add theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Extension(NamedTuple):
    """How values of one type become plain data and plain data becomes values of the type."""

    tag: str
    to_plain: Callable[[Any], Any]
    from_plain: Callable[[Any], Any]
    to_key: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Opaque:
    """Stands for a value that was not decoded, because that would have run code; encodes to what it was."""

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
    """Have values of a type written as ``tag`` and what ``to_plain`` returns, without pickle.

    Args:
        tag: Names the type for ever: it is in every file. Registering the same type again replaces its functions.
        type: Exactly this class, no subclasses.
        to_plain: Returns something that the codec knows already, a tuple as a rule.
        from_plain: The inverse.
        to_key: What two equal values have in common, for ``encode_key``; ``to_plain`` by default.

    Raises:
        ValueError: The tag belongs to another type.
    """
    for other, extension in BY_TYPE.items():
        if extension.tag == tag and _path(other) != _path(type):
            raise ValueError(f"the tag {tag!r} of {_path(type)} belongs to {_path(other)}")
    BY_TYPE[type] = BY_TAG[tag] = Extension(tag, to_plain, from_plain, to_key or to_plain)


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
