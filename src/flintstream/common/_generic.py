"""Generic classes for type checkers, without a cost at run time.

A program may write ``class Length(MapFunction[str, int])`` and ``DataStream[int]``. Type checkers see generic classes
whose parameters default to ``Any``. At run time, a subscript returns the class itself, so bases, method order, pickles
and ``isinstance`` are the same as without subscripts. ``typing.Generic`` would reject
``class Mine(Generic[T], MapFunction)``, which PyFlink allows, and would add an attribute ``__orig_class__`` to each
object that ``OutputTag[str]("late")`` creates, which would be pickled with it.
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
        """Accepts subscripts and ignores them.

        >>> class Box(Generic[T]): ...
        >>> Box[int] is Box
        True
        """

        __slots__ = ()

        def __class_getitem__(cls, parameters: object) -> type:
            """Return the class itself."""
            return cls

    def TypeVar(name: str, **_: object) -> typing.TypeVar:  # noqa: N802 - in place of the class
        """Return a type variable; those of ``typing`` accept no defaults before Python 3.13."""
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
