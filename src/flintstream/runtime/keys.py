"""Keys: the subtask that owns each, and the identity of keys that Python cannot hash.

Two keys are the same key if they compare equal in Python. Lists, dicts, sets and rows compare by content. Objects of
classes without an ``__eq__`` compare by their pickled content. A class that defines ``__eq__`` and ``__hash__`` is
trusted: its objects do not change, and equal objects pickle alike. Unlike Python's hash of a string, the hash is the
same in every process, so all workers send a key to the same subtask.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import types
from collections.abc import Iterator
from functools import lru_cache
from numbers import Number
from operator import is_
from typing import Any
from uuid import UUID
from zlib import crc32

from flintstream.checkpoint.registry import register
from flintstream.common._types.nanoseconds import PreciseDatetime
from flintstream.common.types import Row
from flintstream.runtime.copies import ATOMS, copy_mutable

PLAIN_KEYS: frozenset[type] = frozenset({int, str, bytes, bool, type(None)})
_TIMES = frozenset({dt.datetime, PreciseDatetime, dt.date, dt.time, dt.timedelta})
"""Types whose values serve as keys without conversion."""

MASK = 0x7FFFFFFF
MIX = 0x9E3779B97F4A7C15
"""The hash of a whole number is ``hash(number) * MIX >> 32 & MASK``."""
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - only subtracted from times without a zone
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType)


class FrozenKey:
    """A hashable form of a key that is not hashable by value, with a copy of the original."""

    __slots__ = ("_hash", "canonical", "key")

    def __init__(self, key: Any, canonical: Any) -> None:
        """Wrap ``key``, a private copy of the user's key, and its hashable canonical form."""
        self.key = key
        self.canonical = canonical
        self._hash = hash(canonical)

    def __eq__(self, other: object) -> bool:
        """Compare by content."""
        return type(other) is FrozenKey and self.canonical == other.canonical

    def __hash__(self) -> int:
        """Hash by content."""
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Freeze again when unpickled: hashes of strings differ between processes."""
        return freeze_key, (self.key,)

    def __repr__(self) -> str:
        """Show the user's key."""
        return repr(self.key)


def is_plain(key: Any) -> bool:
    """Tell whether a key needs no conversion: an atom, a time, or a tuple of these."""
    cls = type(key)
    if cls in PLAIN_KEYS:
        return True
    if cls is float:
        return bool(key == key)  # noqa: PLR0124 - NaN differs from itself
    return all(map(is_plain, key)) if cls is tuple else cls in _TIMES


def freeze_key(key: Any) -> Any:
    """Return the key itself if it is hashable by value, else a :class:`FrozenKey`.

    >>> freeze_key("a")
    'a'
    >>> freeze_key([1, {"b": 2}]) == freeze_key([1, {"b": 2}])
    True
    """
    if is_plain(key):
        return key
    canonical = _canonical(key)
    return key if canonical is key else FrozenKey(copy_mutable(key), canonical)


def thaw_key(key: Any) -> Any:
    """Return the user's key for a result of :func:`freeze_key`, copied if it is mutable."""
    return copy_mutable(key.key) if type(key) is FrozenKey else key


def _canonical(value: Any) -> Any:
    """Return a hashable object that is equal for equal values: the value itself, if hashable and immutable.

    A class as the first item of a tuple names the original type. Users' tuples never start with a class, because
    classes become tuples themselves.
    """
    cls: Any = type(value)
    if is_plain(value) or isinstance(value, (str, bytes, enum.Enum)):
        return value
    if isinstance(value, tuple):  # named tuples equal plain ones
        if all(map(is_plain, value)):
            return value
        items = tuple(map(_canonical, value))
        return value if all(map(is_, items, value)) else items
    if isinstance(value, list):
        return (list, *map(_canonical, value))
    if isinstance(value, dict):
        return (dict, frozenset((_canonical(k), _canonical(v)) for k, v in value.items()))
    if isinstance(value, (set, frozenset)):
        return (set, frozenset(map(_canonical, value)))
    if isinstance(value, Row):
        names = value._field_names
        values = value if names is None else value._by_name()
        return (Row, value.get_row_kind().name, names and tuple(sorted(names)), *map(_canonical, values))
    if _is_number(cls):
        return (float, "nan") if _is_nan(value) else value
    if isinstance(value, _NAMED):
        return (type, value.__module__, value.__qualname__)
    if cls in ATOMS or (cls.__eq__ is not object.__eq__ and _is_hashable(value)):
        return value
    return _content(value)


@lru_cache(256)
def _is_number(cls: type) -> bool:
    """Tell whether objects of a class hash like all equal numbers."""
    return issubclass(cls, Number) or (cls.__module__ == "numpy" and cls.__name__ in ("bool", "bool_"))


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN differs from itself
    except ArithmeticError:  # a signaling NaN
        return True


def _is_hashable(value: Any) -> bool:
    """Tell whether an object can be hashed. An object of a hashable class may still contain a list."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


@lru_cache(256)
def _compared_fields(cls: type) -> tuple[str, ...] | None:
    """Return the fields that a data class compares, or None for other classes."""
    if not dataclasses.is_dataclass(cls) or cls.__eq__ is object.__eq__:
        return None
    return tuple(field.name for field in dataclasses.fields(cls) if field.compare)


def _content(value: Any) -> tuple[Any, ...]:
    """Return the hashable content of an object: its compared fields, if declared, or its pickled content."""
    cls: Any = type(value)
    names = _compared_fields(cls)
    if names is not None:
        parts: Any = [getattr(value, name) for name in names]
    else:
        kept = value.__reduce_ex__(2)
        parts = [kept] if isinstance(kept, str) else kept
    return (
        object,
        cls.__qualname__,
        *(_canonical(tuple(part) if isinstance(part, Iterator) else part) for part in parts),
    )


def stable_hash(key: Any) -> int:
    """Hash a frozen key to 31 bits, the same in every process; equal keys hash equally.

    >>> stable_hash("flink") == stable_hash("flink"), stable_hash(1) == stable_hash(1.0)
    (True, True)
    """
    cls: Any = type(key)
    if cls in (int, bool, float):
        return ((hash(key) * MIX) >> 32) & MASK
    if cls is str:
        return crc32(key.encode("utf-8", "surrogatepass")) & MASK
    if key is None:
        return 0
    if cls is bytes:
        return crc32(key) & MASK
    if isinstance(key, tuple):
        h = 17
        for item in key:
            h = (h * 31 + stable_hash(item)) & MASK
        return ((h * MIX) >> 32) & MASK
    if cls is FrozenKey:
        return stable_hash(key.canonical)
    if cls is frozenset:
        return sum(map(stable_hash, key)) & MASK
    if isinstance(key, str):
        return crc32(str.encode(key, "utf-8", "surrogatepass")) & MASK
    if isinstance(key, bytes):
        return crc32(key) & MASK
    if _is_number(cls):
        return ((hash(key) * MIX) >> 32) & MASK  # equal numbers have the same Python hash
    if isinstance(key, type):
        return stable_hash(key.__qualname__)
    return stable_hash(_identity(key))


def _identity(key: Any) -> Any:
    """Return a value that equal objects of other classes share."""
    if isinstance(key, dt.datetime):
        # Like Python's comparison: ``fold`` does not count, and times with a zone are instants.
        offset = key.replace(fold=0).utcoffset() or dt.timedelta(0)
        return _parts(key.replace(tzinfo=None) - _EPOCH - offset)
    if isinstance(key, dt.date):
        return key.toordinal()
    if isinstance(key, dt.time):
        offset = key.utcoffset() or dt.timedelta(0)
        parts = dt.timedelta(0, key.second, key.microsecond, 0, key.minute, key.hour)
        return _parts(parts - offset)
    if isinstance(key, dt.timedelta):
        return _parts(key)
    if isinstance(key, UUID):
        return key.int
    if isinstance(key, enum.Enum):
        return (type(key).__qualname__, key._value_ if isinstance(key, enum.Flag) else key.name)
    return _content(key)


def _parts(delta: dt.timedelta) -> tuple[int, int, int]:
    return delta.days, delta.seconds, delta.microseconds


def key_group(key: Any, max_parallelism: int) -> int:
    """Return the key group of a frozen key."""
    return stable_hash(key) % max_parallelism


class KeyGroups:
    """Returns the key group of a frozen key, when called. Compiled code finds the number of groups here.

    >>> KeyGroups(128)("flink") == key_group("flink", 128)
    True
    """

    __slots__ = ("groups",)

    def __init__(self, groups: int) -> None:
        """Distribute keys to so many groups."""
        self.groups = groups

    def __call__(self, key: Any) -> int:
        """Return the key group of a frozen key."""
        return stable_hash(key) % self.groups


def subtask_of_key_group(group: int, parallelism: int, max_parallelism: int) -> int:
    """Return the subtask that owns a key group."""
    return group * parallelism // max_parallelism


register("FrozenKey", FrozenKey, lambda frozen: frozen.key, freeze_key, to_key=lambda frozen: frozen.canonical)
