"""The program's ``__main__`` in processes that did not run it.

Pickles name a class of the script by its place, ``__main__.Reading``. A worker must find it there when user code
unpickles, and it must be the class that the functions know. The script itself cannot run again: it would start the job
once more. So the driver pickles by value what its ``__main__`` defines, and a worker's ``__main__`` loads each name
when it is first asked for.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from flintstream.common import _by_value

LIMIT = 16 << 20
"""Bytes that one function or class may take with what it refers to."""

DATA_LIMIT = 1 << 20
"""Bytes that a collection of plain data may take."""

_REDUCED_BY_NAME = ("__main__", "enum", "functools", "typing")
"""Modules whose classes have objects that are pickled by their name."""

_replaced: list[ModuleType] = []
"""Modules of this process that were ``__main__``: functions go on using their contents."""


class MainModule(NamedTuple):
    """What a worker needs to know of the program's ``__main__``."""

    attributes: dict[str, Any]
    """What the interpreter sets, such as ``__file__``."""
    pickled: dict[str, bytes]
    absent: dict[str, str]
    """Names that were not sent, and why."""

    @classmethod
    def of(cls, module: ModuleType) -> MainModule:
        """Pickle what a module defines."""
        attributes = {name: getattr(module, name, None) for name in ("__doc__", "__package__")}
        if getattr(module, "__file__", None):
            attributes["__file__"] = module.__file__
        pickled, absent = {}, {}
        for name, value in list(vars(module).items()):
            if name.startswith("__") and name.endswith("__"):
                continue
            try:
                pickled[name] = _pickled(value)
            except Exception as error:  # noqa: BLE001 - whatever an object raises that cannot be pickled
                absent[name] = f"{type(error).__name__}: {error}"
        return cls(attributes, pickled, absent)

    def enter(self) -> None:
        """Make it the ``__main__`` of this process."""
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
            raise pickle.UnpicklingError(f"'{name}' of the program is not in its workers: {described.absent[name]}")
        raise AttributeError(f"module '__main__' has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._described.pickled})


def _pickled(value: Any) -> bytes:
    """Pickle a name of the script if a pickle may ask for it; other objects travel with the functions that use them.

    Raises:
        Exception: It is another object, or cannot be pickled.
    """
    if isinstance(value, (type, FunctionType, ModuleType)) or _is_reduced_to_a_name(value):
        return _by_value.dumps(value, LIMIT, names=False)
    buffer = _by_value.Limited(DATA_LIMIT)
    _PlainPickler(buffer, 5).dump(value)
    return buffer.getvalue()


def _is_reduced_to_a_name(value: Any) -> bool:
    if type(value).__module__ not in _REDUCED_BY_NAME or not _by_value.reduces_itself(type(value)):
        return False
    with suppress(Exception):
        return isinstance(value.__reduce_ex__(5), str)
    return False


class _PlainPickler(pickle.Pickler):
    """Refuses objects of classes: pickling them would run their methods."""

    def reducer_override(self, obj: Any) -> Any:
        raise TypeError(
            f"objects of the class {type(obj).__qualname__} come with the functions that refer to them, "
            "and cannot be had from the module"
        )
