"""Pickles what another process cannot look up by its name: whatever the user's script defines.

cloudpickle takes functions and classes along. Some objects are pickled as a mere name: a cached function, a
``NewType``, a sentinel whose ``__reduce__`` returns its name. Where the name leads nowhere, because it is local, or
belongs to a class that is on its way itself, they travel by value, too, and are one object in each process that they
reach. Where it leads to ``__main__``, workers have it (:mod:`flintstream.runtime.main_module`).
"""

from __future__ import annotations

import enum
import functools
import importlib
import io
import pickle
import sys
import uuid
import weakref
from typing import TYPE_CHECKING, Any

import cloudpickle

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Limited", "Pickler", "TooLargeError", "dumps", "reduces_itself"]

PROTOCOL = 5

_make_class = cloudpickle.cloudpickle._make_skeleton_class  # noqa: SLF001 - what classes are pickled as
_CachedFunction = type(functools.lru_cache(lambda: None))
_OWN_OF_CACHED = ("__wrapped__", "cache_parameters")

_names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
_objects: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""What came or went by value: an object that comes again is the one that is here."""


class TooLargeError(Exception):
    """A pickle grew larger than its limit."""


def dumps(value: object, limit: int | None = None, *, names: bool = True) -> bytes:
    """Pickle a value for processes that have the same packages.

    Args:
        value: Any object.
        limit: The most bytes that the pickle may have.
        names: Whether those processes have the program's ``__main__``, too; without it, nothing is left to be found
            there.

    Raises:
        TooLargeError: The limit is reached.
        Exception: Whatever an object raises that cannot be pickled.

    >>> pickle.loads(dumps(lambda: 1))()
    1
    """
    buffer = io.BytesIO() if limit is None else Limited(limit)
    Pickler(buffer, names=names).dump(value)
    return buffer.getvalue()


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # has no types
    """A cloudpickle that knows what goes by a name."""

    def __init__(self, file: Any, *, names: bool = True) -> None:
        """Write to ``file``; for ``names`` see :func:`dumps`."""
        super().__init__(file, PROTOCOL)
        self.names = names

    def reducer_override(self, obj: Any) -> Any:
        """Return how an object is made again, ``NotImplemented`` to leave it to pickle."""
        kind: Any = type(obj)
        if isinstance(obj, type) and (home := _home_of(obj)) is not None:
            return _attribute, (home, obj.__qualname__)
        reduced = super().reducer_override(obj)
        if reduced is not NotImplemented:
            return _with_qualname(obj, reduced) if isinstance(obj, type) else reduced
        if kind in self.dispatch_table:
            return reduced
        own = _REDUCERS.get(kind)
        if own is not None:
            return own(obj)
        if not reduces_itself(kind):
            return NotImplemented
        reduced = obj.__reduce_ex__(PROTOCOL)
        if isinstance(reduced, str) and not self._is_found(obj, reduced):
            return _by_value(obj)
        return reduced

    def _is_found(self, obj: Any, name: str) -> bool:
        """Tell whether the other process finds an object that goes by a name."""
        module = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]  # undocumented, but what pickle asks
        if module == "__main__" and (not self.names or "." in name):
            return False  # a part of a class is asked for while the class is made
        try:
            return functools.reduce(getattr, name.split("."), sys.modules[module]) is obj
        except (AttributeError, KeyError):
            return False


def reduces_itself(kind: Any) -> bool:
    """Tell whether a class says how its objects are pickled."""
    return kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__


def _with_qualname(kind: type, reduced: Any) -> Any:
    """Have a class made with the name by which plain pickles find it within another one."""
    if isinstance(reduced, tuple) and reduced[0] is _make_class and "." in kind.__qualname__:
        constructor, name, bases, attributes, *others = reduced[1]
        attributes = {**attributes, "__qualname__": kind.__qualname__}
        return (_make_class, (constructor, name, bases, attributes, *others), *reduced[2:])
    return reduced


def _home_of(kind: type) -> str | None:
    """Return the module of a class of compiled code that knows the last part of its name alone: ``cimpl.Producer``."""
    module = kind.__module__
    if not isinstance(module, str) or module in sys.modules:
        return None
    if module.startswith("flintstream."):  # the public module of the class, which this process has not needed yet
        importlib.import_module(module)
        return None
    for name, loaded in list(sys.modules.items()):
        if name.endswith(f".{module}") and getattr(loaded, kind.__qualname__, None) is kind:
            return name
    return None


def _attribute(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


class Limited(io.BytesIO):
    """A buffer that refuses to grow beyond a limit."""

    def __init__(self, limit: int) -> None:
        """Take at most ``limit`` bytes."""
        super().__init__()
        self.limit = limit

    def write(self, data: Any) -> int:
        """Write as any buffer does.

        Raises:
            TooLargeError: The limit is reached.
        """
        if self.tell() + memoryview(data).nbytes > self.limit:
            raise TooLargeError(f"it takes more than {self.limit >> 20} MB")
        return super().write(data)


def _by_value(obj: Any) -> Any:
    make: Callable[..., Any]
    parts: tuple[Any, ...]
    if isinstance(obj, _CachedFunction):
        given = obj.cache_parameters()
        attributes = {name: value for name, value in vars(obj).items() if name not in _OWN_OF_CACHED}
        make, parts = _cached, (obj.__wrapped__, given["maxsize"], given["typed"], attributes)
    elif isinstance(obj, enum.Enum):
        return type(obj), (obj.value,)
    elif type(obj).__module__ == "typing" and hasattr(obj, "__value__"):  # type X = ..., which is Python 3.12
        make, parts = type(obj), (obj.__name__, obj.__value__)
    elif type(obj).__module__ == "typing" and not hasattr(obj, "__supertype__"):  # a ParamSpec and the like
        make, parts = type(obj), (obj.__name__,)
    else:
        make, parts = _remade, (type(obj), obj.__getstate__())
    try:
        name = _names.setdefault(obj, uuid.uuid4().hex)
        _objects.setdefault(name, obj)
    except TypeError:  # it has no weak references, or no hash
        return make, parts
    return _once, (name, make, *parts)


def _once(name: str, make: Callable[..., Any], *parts: Any) -> Any:
    found = _objects.get(name)
    if found is None:
        found = make(*parts)
        # Another thread may have been faster.
        found = _objects.setdefault(name, found)
        _names[found] = name
    return found


def _cached(function: Any, maxsize: int | None, typed: bool, attributes: dict[str, Any]) -> Any:
    cached = functools.lru_cache(maxsize, typed)(function)
    for name, value in attributes.items():
        vars(cached).setdefault(name, value)
    return cached


def _remade(kind: Any, state: Any) -> Any:
    """Make an object and give it its state, as unpickling does."""
    made = kind.__new__(kind)
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return made
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(attributes or {}), **(slots or {})}.items():
        object.__setattr__(made, name, value)
    return made


def _cached_property(obj: Any) -> Any:
    """Leave out the lock that it has in Python 3.11."""
    return _property_of, (obj.func, obj.attrname)


def _property_of(function: Any, name: str | None) -> Any:
    made = functools.cached_property(function)
    made.attrname = name
    return made


_REDUCERS: dict[type, Callable[[Any], Any]] = {
    functools.cached_property: _cached_property,
    weakref.WeakKeyDictionary: lambda obj: (weakref.WeakKeyDictionary, (dict(obj),)),  # singledispatch has one
}
