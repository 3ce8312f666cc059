"""Generic classes for type checkers, which cost programs nothing.

A program may write ``class Length(MapFunction[str, int])`` and ``DataStream[int]``. A type checker takes these for
generic classes whose parameters are ``Any`` unless given. When the program runs, a subscript gives the class itself:
bases, method order, pickles and ``isinstance`` are those of a program without subscripts. ``typing.Generic`` would
refuse ``class Mine(Generic[T], MapFunction)``, which PyFlink allows, and each object that ``OutputTag[str]("late")``
makes would get an attribute ``__orig_class__``, which is pickled with it.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

__all__ = [
    "ACC",
    "IN",
    "IN1",
    "IN2",
    "KEY",
    "OUT",
    "TUPLE",
    "A_co",
    "B_co",
    "Generic",
    "K",
    "K_co",
    "T",
    "T_co",
    "T_contra",
    "TypeVar",
    "V",
    "W",
    "W_co",
    "W_contra",
]

if TYPE_CHECKING:
    from typing import Generic

    from typing_extensions import TypeVar
else:

    class Generic:
        """Takes subscripts, and ignores them.

        >>> class Box(Generic[T]): ...
        >>> Box[int] is Box
        True
        """

        __slots__ = ()

        def __class_getitem__(cls, parameters: object) -> type:
            """Return the class itself."""
            return cls

    def TypeVar(name: str, **_: object) -> typing.TypeVar:  # noqa: N802 - in place of the class
        """Return a type variable; before Python 3.13 those of ``typing`` know no defaults."""
        return typing.TypeVar(name)


T = TypeVar("T", default=Any)
K = TypeVar("K", default=Any)
V = TypeVar("V", default=Any)
ACC = TypeVar("ACC", default=Any)
W = TypeVar("W", default=Any)
K_co = TypeVar("K_co", covariant=True, default=Any)
W_co = TypeVar("W_co", covariant=True, default=Any)
W_contra = TypeVar("W_contra", contravariant=True, default=Any)
A_co = TypeVar("A_co", covariant=True, default=Any)
B_co = TypeVar("B_co", covariant=True, default=Any)
T_co = TypeVar("T_co", covariant=True, default=Any)
T_contra = TypeVar("T_contra", contravariant=True, default=Any)
IN = TypeVar("IN", contravariant=True, default=Any)
IN1 = TypeVar("IN1", contravariant=True, default=Any)
IN2 = TypeVar("IN2", contravariant=True, default=Any)
OUT = TypeVar("OUT", covariant=True, default=Any)
TUPLE = TypeVar("TUPLE", bound=tuple[Any, ...], default=tuple[Any, ...])
KEY = TypeVar("KEY", contravariant=True, default=Any)
