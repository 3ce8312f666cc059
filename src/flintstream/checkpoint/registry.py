"""The registry of types that the codec writes by content. Upper layers add their own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


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


def record(cls: type[T]) -> type[T]:
    """Write instances of a dataclass or named tuple by the names and values of its fields, without pickle.

    The name of the class, without leading underscores, is permanent, as are the names of its fields. A new field needs
    a default, so that state of earlier releases can be read.

    >>> from dataclasses import dataclass
    >>> from flintstream.checkpoint.codec import decode_one, encode_one
    >>> @record
    ... @dataclass
    ... class ExampleOfARecord:
    ...     name: str
    >>> decode_one(encode_one(ExampleOfARecord("a")), allow_pickle=False)
    ExampleOfARecord(name='a')
    """
    names = getattr(cls, "_fields", None) or tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def to_plain(value: T) -> dict[str, Any]:
        return {name: getattr(value, name) for name in names}

    register(cls.__name__.lstrip("_"), cls, to_plain, lambda plain: cls(**plain))
    return cls


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
