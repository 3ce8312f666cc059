"""The program's ``__main__`` in processes that did not run it.

Pickles refer to a class of the script by its name, ``__main__.Reading``. A worker must find it under that name when
user code unpickles, and it must be the same class that the functions use. The script cannot run again, because that
would start a second job. So the driver pickles the contents of its ``__main__`` by value, and a worker's ``__main__``
loads each name on first access.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from flintstream.common._user_code import by_value

LIMIT = 16 << 20
"""The most bytes for one function or class with everything it refers to."""

DATA_LIMIT = 1 << 20
"""The most bytes for a collection of plain data."""

_REDUCED_BY_NAME = ("__main__", "enum", "functools", "typing")
"""Modules whose classes have instances that are pickled by name."""

_replaced: list[ModuleType] = []
"""Former ``__main__`` modules of this process, kept because functions still use their contents."""


class MainModule(NamedTuple):
    """The parts of the program's ``__main__`` that a worker needs."""

    attributes: dict[str, Any]
    """Attributes that the interpreter sets, such as ``__file__``."""
    pickled: dict[str, bytes]
    absent: dict[str, str]
    """Names that were not sent, with the reasons."""

    @classmethod
    def of(cls, module: ModuleType) -> MainModule:
        """Pickle the contents of a module."""
        attributes = {name: getattr(module, name, None) for name in ("__doc__", "__package__")}
        if getattr(module, "__file__", None):
            attributes["__file__"] = module.__file__
        pickled, absent = {}, {}
        for name, value in list(vars(module).items()):
            if name.startswith("__") and name.endswith("__"):
                continue
            try:
                pickled[name] = _pickle(value)
            except Exception as error:  # noqa: BLE001 - an unpicklable object may raise anything
                absent[name] = f"{type(error).__name__}: {error}"
        return cls(attributes, pickled, absent)

    def enter(self) -> None:
        """Install this as the ``__main__`` of this process."""
        _replaced.append(sys.modules["__main__"])
        del _replaced[1:]
        sys.modules["__main__"] = _Main(self)


class _Main(ModuleType):
    __slots__ = ("_described",)

    def __init__(self, described: MainModule) -> None:
        super().__init__("__main__")
        self._described = described
        self.__dict__.update(described.attributes, __builtins__=__builtins__)

    def __getattr__(self, name: str) -> Any:
        described = self._described
        if name in described.pickled:
            value = pickle.loads(described.pickled[name])
            setattr(self, name, value)
            return value
        if name in described.absent:
            raise pickle.UnpicklingError(f"the workers do not have '{name}' of the program: {described.absent[name]}")
        raise AttributeError(f"module '__main__' has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._described.pickled})


def _pickle(value: Any) -> bytes:
    """Pickle an object that pickles may refer to by name; other objects travel with the functions that use them.

    Raises:
        Exception: The object is of another kind, or cannot be pickled.
    """
    if isinstance(value, (type, FunctionType, ModuleType)) or _is_reduced_to_a_name(value):
        return by_value.dumps(value, LIMIT, names=False)
    buffer = by_value.Limited(DATA_LIMIT)
    _PlainPickler(buffer, 5).dump(value)
    return buffer.getvalue()


def _is_reduced_to_a_name(value: Any) -> bool:
    if type(value).__module__ not in _REDUCED_BY_NAME or not by_value.reduces_itself(type(value)):
        return False
    with suppress(Exception):
        return isinstance(value.__reduce_ex__(5), str)
    return False


class _PlainPickler(pickle.Pickler):
    """A pickler that refuses instances of classes, because pickling them would run their methods."""

    def reducer_override(self, obj: Any) -> Any:
        raise TypeError(
            f"objects of the class {type(obj).__qualname__} are sent with the functions that refer to "
            "them, and cannot be read from the module"
        )
