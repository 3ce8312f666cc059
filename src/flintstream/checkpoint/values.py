"""Single values as bytes. :mod:`flintstream.checkpoint.codec` is the public interface."""

from __future__ import annotations

import contextlib
import enum
import importlib
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import msgpack
from msgpack import ExtType

from flintstream.checkpoint import extensions as _extensions  # noqa: F401 - registers the built-in types
from flintstream.checkpoint.moved import MOVED, loads
from flintstream.checkpoint.pickles import class_in, refuses_pickle
from flintstream.checkpoint.registry import BY_TAG, BY_TYPE, Opaque
from flintstream.checkpoint.subclasses import to_tagged
from flintstream.common._user_code.pickling import dumps
from flintstream.errors import CheckpointError, CorruptDataError, NotEnoughMemoryError, PickleRefusedError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from flintstream.checkpoint.registry import Extension

# Codes of types that MessagePack does not distinguish. Files contain them, so never change the meaning of a number.
TUPLE, SET, FROZENSET, PAIRS, BIG_INT, BYTEARRAY, TAGGED, ENUM, PICKLED = range(1, 10)

MAX_DEPTH = 64
"""Levels of nesting that are written by content. Values that are nested deeper, or contain themselves, are pickled."""

_TUPLE_MARK = b"\xc1"  # MessagePack never starts with this byte

ATOMS = frozenset({type(None), bool, int, float, str, bytes})
all_atoms = ATOMS.issuperset
_AS_DATETIME = 3  # times of MessagePack, which we never write, become values that we can write
_SURROGATES = "surrogatepass"  # a str may contain lone surrogates, but UTF-8 may not

# These packers are shared between threads, as they hold the interpreter's lock while they pack. The strict packer
# refuses instances of subclasses. The loose one writes tuples like lists, so it is only for values known to be safe.
_strict: Callable[[Any], bytes] = msgpack.Packer(strict_types=True).pack
_loose: Callable[[Any], bytes] = msgpack.Packer().pack


class _NotPlainError(Exception):
    """The value is nested too deeply, or contains itself."""


def encode_one(value: Any) -> bytes:
    """Return one value as bytes.

    Raises:
        CheckpointError: The value can be neither written by content nor pickled.

    >>> decode_one(encode_one({"a": (1, 2.0)}))
    {'a': (1, 2.0)}
    """
    cls = type(value)
    try:
        if cls in ATOMS:
            return _strict(value)
        if cls is tuple and _is_tuples(value):
            return _TUPLE_MARK + _loose(value)
        if cls is list and all_atoms(map(type, value)):
            return _strict(value)
        if cls is dict and all_atoms(map(type, value)) and all_atoms(map(type, value.values())):
            return _strict(value)
    except (OverflowError, ValueError, RecursionError):
        pass
    return pack(plain_or_pickled(value))


def decode_one(data: bytes, *, allow_pickle: bool = True) -> Any:
    """Return the value that :func:`encode_one` has encoded.

    Args:
        data: the result of :func:`encode_one`.
        allow_pickle: as in :func:`~flintstream.checkpoint.codec.decode`.

    Raises:
        CorruptDataError: The bytes are not an encoded value, or need a class that cannot be imported.
    """
    try:
        if data[:1] == _TUPLE_MARK:
            return msgpack.unpackb(
                data[1:], use_list=False, strict_map_key=False, unicode_errors=_SURROGATES, timestamp=_AS_DATETIME
            )
        return unpack(data, allow_pickle)
    except (CorruptDataError, PickleRefusedError):
        raise
    except Exception as error:
        raise corrupt(error) from error


def _is_tuples(value: tuple[Any, ...]) -> bool:
    """Return whether a tuple contains only atoms and tuples for which this holds as well."""
    for part in value:
        cls = type(part)
        if cls not in ATOMS and (cls is not tuple or not _is_tuples(part)):
            return False
    return True


def plain_or_pickled(value: Any) -> Any:
    """Return a form of a value that the strict packer can write, pickled if necessary."""
    try:
        return plain(value, ())
    except _NotPlainError:
        return _pickle_value(value)


def plain(value: Any, above: tuple[int, ...]) -> Any:
    """Return a form of a value that the strict packer can write. ``above`` has the ids of its containers."""
    cls = type(value)
    if cls is int:
        if -0x8000_0000_0000_0000 <= value <= 0xFFFF_FFFF_FFFF_FFFF:
            return value
        return ExtType(BIG_INT, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
    if cls in ATOMS:
        return value
    if id(value) in above or len(above) >= MAX_DEPTH:
        raise _NotPlainError
    above = (*above, id(value))
    if cls is list:
        return [*value] if _are_plain(value) else [plain(item, above) for item in value]
    if cls is dict:
        keys = [*value] if _are_plain(value) else [plain(key, above) for key in value]
        items = [*value.values()] if _are_plain(value.values()) else [plain(item, above) for item in value.values()]
        if ExtType in map(type, keys):
            return ExtType(PAIRS, pack([keys, items]))
        return dict(zip(keys, items, strict=True))
    if cls in _COLLECTIONS:
        if all_atoms(map(type, value)):
            with contextlib.suppress(OverflowError, UnicodeEncodeError):
                return ExtType(_COLLECTIONS[cls], _strict(list(value)))
        return ExtType(_COLLECTIONS[cls], pack([plain(item, above) for item in value]))
    if cls is bytearray:
        return ExtType(BYTEARRAY, bytes(value))
    extension = BY_TYPE.get(cls)
    if extension is not None:
        return ExtType(TAGGED, pack([extension.tag, plain(extension.to_plain(value), above)]))
    if isinstance(value, enum.Enum) and _is_importable(type(value)) and cls.__members__.get(value.name) is value:
        return ExtType(ENUM, pack([cls.__module__, cls.__qualname__, value.name]))
    if cls is Opaque:
        return ExtType(value.code, value.data)
    found = to_tagged(value)
    return _pickle_value(value) if found is None else ExtType(TAGGED, pack([found[0], plain(found[1], above)]))


def _are_plain(values: Collection[int]) -> bool:
    """Return whether values are atoms that the strict packer can write, told by their types and extremes."""
    types = {*map(type, values)}
    if not ATOMS.issuperset(types) or len(types) > 1:
        return not types
    return int not in types or (min(values) >= -0x8000_0000_0000_0000 and max(values) <= 0xFFFF_FFFF_FFFF_FFFF)


_COLLECTIONS: dict[type, int] = {tuple: TUPLE, set: SET, frozenset: FROZENSET}


def _pickle_value(value: Any) -> ExtType:
    if refuses_pickle():
        cls = type(value)
        raise PickleRefusedError(f"{shorten(value)} of type {cls.__module__}.{cls.__qualname__}")
    try:
        return ExtType(PICKLED, dumps(value))
    except Exception as error:
        raise CheckpointError(
            f"{shorten(value)} of type {type(value).__qualname__} cannot be stored as state: {error}"
        ) from error


@cache
def _is_importable(cls: type) -> bool:
    """Return whether another process can import a class by its name."""
    if cls.__module__ == "__main__":
        return False
    try:
        return _find(cls.__module__, cls.__qualname__) is cls
    except (ImportError, AttributeError):
        return False


def _find(module: str, qualname: str) -> Any:
    found: Any = sys.modules.get(module) or importlib.import_module(module)
    for name in qualname.split("."):
        found = getattr(found, name)
    return found


def _find_defined(module: str, qualname: str) -> Any:
    """Find a class in an imported module without running the code of properties or lazy imports."""
    found: Any = sys.modules[module]
    for name in qualname.split("."):
        found = vars(found)[name]
    return found


def pack(tree: Any) -> bytes:
    """Pack a result of :func:`plain`."""
    try:
        return _strict(tree)
    except UnicodeEncodeError:
        return msgpack.packb(tree, strict_types=True, unicode_errors=_SURROGATES)  # type: ignore[no-any-return]


# -- reading ---------------------------------------------------------------------------------------------------------


def unpack(data: bytes, allow_pickle: bool) -> Any:
    """Unpack a result of :func:`pack`."""
    hook = _with_pickle if allow_pickle else _without_pickle
    return msgpack.unpackb(
        data, ext_hook=hook, strict_map_key=False, unicode_errors=_SURROGATES, timestamp=_AS_DATETIME
    )


def _with_pickle(code: int, data: bytes) -> Any:
    return _Reader(allow_pickle=True).read(code, data)


def _without_pickle(code: int, data: bytes) -> Any:
    return _Reader(allow_pickle=False).read(code, data)


class _Reader:
    """Reads one extension value and nested ones, down to a depth that fits on the stack."""

    __slots__ = ("allow_pickle", "depth")

    def __init__(self, *, allow_pickle: bool) -> None:
        self.allow_pickle = allow_pickle
        self.depth = 0

    def read(self, code: int, data: bytes) -> Any:
        if code == BIG_INT:
            return int.from_bytes(data, "little", signed=True)
        if code == BYTEARRAY:
            return bytearray(data)
        if code == PICKLED:
            if not self.allow_pickle:
                return Opaque(code, data)
            if refuses_pickle():
                raise PickleRefusedError(f"an object of {class_in(data) or 'an unknown class'}")
            return loads(data)
        self.depth += 1
        if self.depth > 2 * MAX_DEPTH:
            raise CorruptDataError("values are nested too deeply")
        parts = msgpack.unpackb(
            data, ext_hook=self.read, strict_map_key=False, unicode_errors=_SURROGATES, timestamp=_AS_DATETIME
        )
        self.depth -= 1
        if type(parts) is not list:
            raise CorruptDataError("an extension value without parts")
        if code in _MAKERS:
            return _MAKERS[code](parts)
        if code == PAIRS:
            keys, items = parts
            return dict(zip(keys, items, strict=True))
        if code == TAGGED:
            tag, content = parts
            return extension_of(tag).from_plain(content)
        if code == ENUM:
            return self._member(data, *parts)
        raise CorruptDataError(f"a value with the unknown code {code}")

    def _member(self, data: bytes, module: str, qualname: str, name: str) -> Any:
        module = MOVED.get(module, module)
        if module not in sys.modules:  # an import runs code
            if not self.allow_pickle:
                return Opaque(ENUM, data)
            if refuses_pickle():
                raise PickleRefusedError(f"a member of the enum {qualname} of the module {module}, not imported yet")
        found = _find(module, qualname) if self.allow_pickle else _find_defined(module, qualname)
        if not isinstance(found, enum.EnumMeta):
            raise CorruptDataError(f"{module}.{qualname} is not an enum")
        return found[name]


_MAKERS: dict[int, Any] = {code: cls for cls, code in _COLLECTIONS.items()}


def extension_of(tag: Any) -> Extension:
    """Return the extension with a tag.

    Raises:
        CorruptDataError: The tag is unknown.
    """
    try:
        return BY_TAG[tag]
    except KeyError:
        raise CorruptDataError(f"a value of the type {tag!r}, which this program does not know") from None


def corrupt(error: Exception) -> CheckpointError:
    """Return the error for data that cannot be decoded, which may be in order if there is not enough memory."""
    if isinstance(error, MemoryError):
        return NotEnoughMemoryError()
    return CorruptDataError(f"it cannot be decoded ({type(error).__name__}: {error})")
