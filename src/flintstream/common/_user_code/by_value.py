"""Pickler for objects that another process cannot import by name, such as those defined in the user's script.

cloudpickle pickles functions and classes by value. Other objects pickle as a mere name: a cached function, a
``NewType``, a sentinel whose ``__reduce__`` returns its name. If that name is local, or belongs to a class that is
itself being pickled, this module pickles them by value as well, and keeps them unique in each process that receives
them. Names in ``__main__`` stay names, because workers have that module (:mod:`flintstream.runtime.main_module`).
"""

from __future__ import annotations

import copyreg
import enum
import functools
import importlib
import inspect
import io
import pickle
import sys
import types
import uuid
import weakref
from collections import ChainMap
from typing import TYPE_CHECKING, Any, ClassVar

import cloudpickle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Limited", "Pickler", "TooLargeError", "dumps", "reduces_itself"]

PROTOCOL = 5

_make_class = cloudpickle.cloudpickle._make_skeleton_class
_reduce_code = cloudpickle.cloudpickle._code_reduce
_CachedFunction = type(functools.lru_cache(lambda: None))
_OWN_OF_CACHED = ("__wrapped__", "cache_parameters")

_names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
_objects: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""Objects pickled or unpickled by value. Unpickling the same object again returns the one here."""


class TooLargeError(Exception):
    """A pickle exceeds its size limit."""


def dumps(value: object, limit: int | None = None, *, names: bool = True) -> bytes:
    """Pickle a value for processes with the same packages.

    Args:
        value: Any object.
        limit: Maximum size of the pickle in bytes.
        names: Whether those processes also have the program's ``__main__``. If not, nothing is pickled as a name in
            it.

    Raises:
        TooLargeError: The pickle exceeds the limit.
        Exception: The value cannot be pickled; its objects may raise anything.

    >>> pickle.loads(dumps(lambda: 1))()
    1
    """
    buffer = io.BytesIO() if limit is None else Limited(limit)
    Pickler(buffer, names=names).dump(value)
    return buffer.getvalue()


def _code_with_file(code: types.CodeType) -> tuple[object, ...]:
    """Keep the file of code: cloudpickle drops it since 3.1.3, and tracebacks, debuggers and coverage need it."""
    return _code_from, (code.co_filename, *_reduce_code(code)[1])


def _code_from(file: str, *parts: Any) -> types.CodeType:
    return types.CodeType(*parts).replace(co_filename=file)


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # untyped
    """A cloudpickle pickler that knows which names the other process can import, and keeps the files of code."""

    dispatch_table: ClassVar[ChainMap[type, Any]] = ChainMap(
        {types.CodeType: _code_with_file}, cloudpickle.Pickler.dispatch_table
    )

    def __init__(self, file: object, *, names: bool = True) -> None:
        """Write to ``file``; for ``names`` see :func:`dumps`."""
        super().__init__(file, PROTOCOL)
        self.names = names

    def reducer_override(self, obj: object) -> Any:
        """Return the reduced form of an object, or ``NotImplemented`` to leave it to pickle."""
        kind: Any = type(obj)
        if isinstance(obj, type) and (owner := _owner_of(obj)) is not None:
            return _attribute, (owner, obj.__qualname__)
        reduced = super().reducer_override(obj)
        if reduced is not NotImplemented:
            return _complete(obj, reduced) if isinstance(obj, type) else reduced
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

    def _is_found(self, obj: object, name: str) -> bool:
        """Tell whether the other process can import an object by name."""
        module = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]  # undocumented; pickle itself uses it
        if module == "__main__" and (not self.names or "." in name):
            return False  # the class of this member is still being created
        try:
            return functools.reduce(getattr, name.split("."), sys.modules[module]) is obj
        except (AttributeError, KeyError):
            return False


def reduces_itself(kind: Any) -> bool:
    """Tell whether a class defines how its instances are pickled."""
    return kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__


def _complete(kind: type, reduced: object) -> object:
    """Rebuild a class with its qualified name, by which plain pickles find nested classes, and a struct with fields."""
    if isinstance(reduced, tuple) and isinstance(kind, enum.EnumMeta) and isinstance(reduced[2], tuple):
        return _with_aliases(kind, reduced)
    if not isinstance(reduced, tuple) or reduced[0] is not _make_class:
        return reduced
    constructor, name, bases, attributes, *others = reduced[1]
    if "." in kind.__qualname__:
        attributes = {**attributes, "__qualname__": kind.__qualname__}
    if type(kind).__module__.startswith("msgspec."):
        constructor = functools.partial(_new_struct, constructor, *_parts_of_struct(kind))
        attributes = {**attributes, "__annotations__": inspect.get_annotations(kind)}
    return (_make_class, (constructor, name, bases, attributes, *others), *reduced[2:])


def _with_aliases(kind: enum.EnumMeta, reduced: tuple[Any, ...]) -> tuple[object, ...]:
    """Give an enum all its names: cloudpickle sets those of combined flags and aliases later, which an enum refuses."""
    make, (bases, kind_name, qualified, _, *others), (attributes, slots), *rest = reduced
    named: Mapping[str, enum.Enum] = kind.__members__
    members = {name: member.value for name, member in named.items()}
    left = {key: value for key, value in attributes.items() if key not in members}
    return (make, (bases, kind_name, qualified, members, *others), (left, slots), *rest)


def _parts_of_struct(kind: Any) -> tuple[dict[str, object], dict[str, tuple[object, object, str]]]:
    """Return the keywords of a struct of msgspec, and the default, its factory and the encoded name of its fields."""
    structs = importlib.import_module("msgspec.structs")
    own = set(inspect.get_annotations(kind)) & set(kind.__struct_fields__)
    config = kind.__struct_config__
    keywords = {name: getattr(config, name) for name in dir(config) if not name.startswith("_")}
    fields = {
        field.name: (field.default, field.default_factory, field.encode_name)
        for field in structs.fields(kind)
        if field.name in own and (not field.required or field.encode_name != field.name)
    }
    return {**keywords, "kw_only": bool(own) and own.isdisjoint(kind.__match_args__)}, fields


def _new_struct(
    meta: Callable[..., object],
    keywords: dict[str, object],
    fields: dict[str, tuple[object, object, str]],
    name: str,
    bases: object,
    namespace: dict[str, object],
) -> object:
    """Make a struct of msgspec, whose metaclass reads the fields only once."""
    field = importlib.import_module("msgspec").field
    made = {
        key: field(default=default, default_factory=factory, name=encoded)
        for key, (default, factory, encoded) in fields.items()
    }
    return meta(name, bases, {**namespace, **made}, **keywords)


def _owner_of(kind: type) -> str | None:
    """Return the real module of a compiled class that knows only its last part, like ``cimpl.Producer``."""
    module = kind.__module__
    if not isinstance(module, str) or module in sys.modules:
        return None
    if module.startswith("flintstream."):  # the public module of the class, not imported yet
        importlib.import_module(module)
        return None
    for name, loaded in list(sys.modules.items()):
        if name.endswith(f".{module}") and getattr(loaded, kind.__qualname__, None) is kind:
            return name
    return None


def _attribute(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


class Limited(io.BytesIO):
    """A buffer that raises an error beyond a size limit."""

    def __init__(self, limit: int) -> None:
        """Accept at most ``limit`` bytes."""
        super().__init__()
        self.limit = limit

    def write(self, data: Any) -> int:
        """Write like any buffer.

        Raises:
            TooLargeError: The limit is exceeded.
        """
        if self.tell() + memoryview(data).nbytes > self.limit:
            raise TooLargeError(f"the pickle takes more than {self.limit >> 20} MB")
        return super().write(data)


def _by_value(obj: Any) -> Any:
    make: Callable[..., object]
    parts: tuple[object, ...]
    if isinstance(obj, _CachedFunction):
        given = obj.cache_parameters()
        attributes = {name: value for name, value in vars(obj).items() if name not in _OWN_OF_CACHED}
        make, parts = _cached, (obj.__wrapped__, given["maxsize"], given["typed"], attributes)
    elif isinstance(obj, enum.Enum):
        return type(obj), (obj.value,)
    elif type(obj).__module__ == "typing" and hasattr(obj, "__value__"):  # type X = ... (Python 3.12)
        make, parts = type(obj), (obj.__name__, obj.__value__)
    elif type(obj).__module__ == "typing" and not hasattr(obj, "__supertype__"):  # ParamSpec, TypeVarTuple, ...
        make, parts = type(obj), (obj.__name__,)
    else:
        make, parts = _remade, (type(obj), _state_of(obj))
    try:
        name = _names.setdefault(obj, uuid.uuid4().hex)
        _objects.setdefault(name, obj)
    except TypeError:  # not weakly referenceable, or not hashable
        return make, parts
    return _once, (name, make, *parts)


def _state_of(obj: object) -> object:
    """Return what ``object.__getstate__`` returns, which Python 3.10 does not have."""
    if hasattr(obj, "__getstate__"):
        return obj.__getstate__()
    slots = copyreg._slotnames(type(obj))  # type: ignore[attr-defined]  # undocumented; pickle itself uses it
    set_ = {name: getattr(obj, name) for name in slots if hasattr(obj, name)}
    attributes = getattr(obj, "__dict__", None)
    return (attributes, set_) if set_ else attributes


def _once(name: str, make: Callable[..., object], *parts: object) -> Any:
    found = _objects.get(name)
    if found is None:
        found = make(*parts)
        # Another thread may have created it in the meantime.
        found = _objects.setdefault(name, found)
        _names[found] = name
    return found


def _cached(function: Any, maxsize: int | None, typed: bool, attributes: dict[str, object]) -> Any:
    cached = functools.lru_cache(maxsize, typed)(function)
    for name, value in attributes.items():
        vars(cached).setdefault(name, value)
    return cached


def _remade(kind: Any, state: object) -> Any:
    """Create an object and set its state, like unpickling."""
    made = kind.__new__(kind)
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return made
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(attributes or {}), **(slots or {})}.items():
        object.__setattr__(made, name, value)
    return made


def _cached_property(obj: functools.cached_property[object]) -> object:
    """Drop the lock that it has in Python 3.11."""
    return _property_of, (obj.func, obj.attrname)


def _property_of(function: Any, name: str | None) -> Any:
    made = functools.cached_property(function)
    made.attrname = name
    return made


_REDUCERS: dict[type, Callable[[Any], Any]] = {
    functools.cached_property: _cached_property,
    weakref.WeakKeyDictionary: lambda obj: (weakref.WeakKeyDictionary, (dict(obj),)),  # used by singledispatch
}
