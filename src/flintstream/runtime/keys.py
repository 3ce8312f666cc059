"""Keys: which subtask owns one, and how a key that Python cannot hash is told apart.

Two keys are the same key when they compare equal in Python; lists, dicts, sets and rows compare by content, and objects
of classes without an ``__eq__`` by what they pickle to. The hash does not depend on the process (Python's own hash of a
string does), so every worker sends a key to the same place.
"""

from __future__ import annotations

import enum
import io
import pickle
from typing import Any
from zlib import crc32

from flintstream.runtime.snapshot import snapshot

PLAIN_KEYS: frozenset[type] = frozenset({int, str, bytes, bool, type(None)})
"""Types whose values serve as keys as they are."""

_MASK = 0x7FFFFFFF
_MIX = 0x9E3779B97F4A7C15


class FrozenKey:
    """Stands in for a key that is not hashable by value; remembers the original as it was."""

    __slots__ = ("_hash", "canonical", "key")

    def __init__(self, key: Any, canonical: Any) -> None:
        """Take a copy of the user's key, which nobody changes, and its hashable canonical form."""
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
    """Tell whether a key serves as it is: an atom, or a tuple of atoms."""
    kind = type(key)
    if kind in PLAIN_KEYS:
        return True
    if kind is float:
        return bool(key == key)  # noqa: PLR0124 - NaN differs from itself
    return kind is tuple and all(map(is_plain, key))


def freeze_key(key: Any) -> Any:
    """Return the key itself when it is hashable by value, else a :class:`FrozenKey`.

    >>> freeze_key("a")
    'a'
    >>> freeze_key([1, {"b": 2}]) == freeze_key([1, {"b": 2}])
    True
    """
    if is_plain(key):
        return key
    canonical = _canonical(key)
    return key if canonical is key else FrozenKey(snapshot(key), canonical)


def thaw_key(key: Any) -> Any:
    """Return the user's own key for what :func:`freeze_key` returned; a copy, if it could be changed."""
    return snapshot(key.key) if type(key) is FrozenKey else key


def _canonical(value: Any) -> Any:
    kind = type(value)
    if is_plain(value) or isinstance(value, enum.Enum):
        return value
    if kind is float:
        return ("nan",)
    if kind is tuple:
        return tuple(map(_canonical, value))
    if kind is list:
        return ("list", *map(_canonical, value))
    if kind is dict:
        return ("dict", frozenset((_canonical(k), _canonical(v)) for k, v in value.items()))
    if kind in (set, frozenset):
        return ("set", frozenset(map(_canonical, value)))
    if kind.__eq__ is object.__eq__ or kind.__hash__ is None:  # type: ignore[comparison-overlap]
        fields = getattr(value, "__dict__", None)
        if fields:
            return (kind.__qualname__, _canonical(fields))
        return (kind.__qualname__, _pickled(value))
    return value


def _pickled(value: Any) -> bytes:
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True  # no memo: equal content gives equal bytes whether or not parts are shared
    pickler.dump(value)
    return buffer.getvalue()


def stable_hash(key: Any) -> int:
    """Hash a frozen key to 31 bits, the same in every process; equal keys hash equally.

    >>> stable_hash("flink") == stable_hash("flink"), stable_hash(1) == stable_hash(1.0)
    (True, True)
    """
    kind = type(key)
    if kind is str:
        return crc32(key.encode("utf-8", "surrogatepass")) & _MASK
    if kind in (int, bool, float):
        return ((hash(key) * _MIX) >> 32) & _MASK
    if key is None:
        return 0
    if kind is bytes:
        return crc32(key) & _MASK
    if isinstance(key, tuple):
        h = 17
        for item in key:
            h = (h * 31 + stable_hash(item)) & _MASK
        return ((h * _MIX) >> 32) & _MASK
    if kind is FrozenKey:
        return stable_hash(key.canonical)
    if kind is frozenset:
        return sum(map(stable_hash, key)) & _MASK
    if isinstance(key, enum.Enum):
        return stable_hash((kind.__qualname__, key.name))
    if isinstance(key, str):
        return stable_hash(str(key))
    try:
        return ((hash(int(key)) * _MIX) >> 32) & _MASK if key == int(key) else crc32(repr(float(key)).encode()) & _MASK
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    fields = getattr(key, "__dict__", None)
    if fields:
        return stable_hash((kind.__qualname__, *(_canonical(v) for v in fields.values())))
    return crc32(_pickled(key)) & _MASK


def key_group(key: Any, max_parallelism: int) -> int:
    """Return the key group of a frozen key."""
    return stable_hash(key) % max_parallelism


def subtask_of_key_group(group: int, parallelism: int, max_parallelism: int) -> int:
    """Return the subtask that owns a key group."""
    return group * parallelism // max_parallelism
