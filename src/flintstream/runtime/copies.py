"""Copies of emitted objects, so that later changes do not affect records in flight."""

from __future__ import annotations

import datetime as dt
import decimal
import pickle
from typing import TYPE_CHECKING, Any

from flintstream.common._types.basic import BasicTypeInfo
from flintstream.common._types.composite import TupleTypeInfo
from flintstream.common._types.nanoseconds import PreciseDatetime
from flintstream.common._user_code.pickling import dumps
from flintstream.common.types import Row, _make_row
from flintstream.compiled import load

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation

ATOMS: frozenset[type] = frozenset(
    {
        int, str, float, bool, bytes, type(None), complex,
        decimal.Decimal, dt.date, dt.datetime, PreciseDatetime, dt.time, dt.timedelta,
    },
)  # fmt: skip
"""Exact types whose instances are immutable and refer to nothing mutable."""

_ATOMS_AND_TUPLES = ATOMS | {tuple}

_all_atoms = ATOMS.issuperset
_compiled = load("exchange")


def frozen_classes(declared: TypeInformation | None) -> frozenset[type]:
    """Return the classes whose instances need no copy when emitted as ``declared``.

    They include tuples if ``declared`` is a tuple of basic types: the type check that follows rejects other content.

    >>> from flintstream.common import Types
    >>> tuple in frozen_classes(Types.TUPLE([Types.LONG(), Types.STRING()]))
    True
    >>> tuple in frozen_classes(Types.TUPLE([Types.LONG(), Types.LIST(Types.LONG())]))
    False
    """
    return _ATOMS_AND_TUPLES if isinstance(declared, TupleTypeInfo) and has_frozen_values(declared) else ATOMS


def has_frozen_values(declared: TypeInformation | None) -> bool:
    """Return whether all values of a type are immutable: it is basic, or a tuple of basic types."""
    if isinstance(declared, TupleTypeInfo):
        return all(isinstance(t, BasicTypeInfo) for t in declared.get_field_types())
    return isinstance(declared, BasicTypeInfo)


def is_frozen(value: object) -> bool:
    """Tell whether ``value`` is immutable: an atom, or a tuple (of tuples) of atoms."""
    cls = type(value)
    if cls in ATOMS:
        return True
    return cls is tuple and (_all_atoms(map(type, value)) or all(map(is_frozen, value)))  # type: ignore[call-overload]


def copy_mutable(value: Any) -> Any:
    """Return ``value`` itself if it is immutable, else a copy.

    >>> word = ("flink", 1)
    >>> copy_mutable(word) is word
    True
    >>> buffer = [1, 2]
    >>> copy = copy_mutable(buffer)
    >>> buffer.append(3)
    >>> copy
    [1, 2]
    """
    cls = type(value)
    if cls in ATOMS:
        return value
    if cls is tuple:
        if _all_atoms(map(type, value)):
            return value
        return tuple(map(copy_mutable, value))
    if cls is list:
        return list(map(copy_mutable, value))
    if cls is dict:
        return {key: copy_mutable(item) for key, item in value.items()}
    if cls is set and _all_atoms(map(type, value)):
        return set(value)
    if cls is Row:
        values = value._values
        copies = values[:] if _all_atoms(map(type, values)) else list(map(copy_mutable, values))
        return _make_row(value._field_names, copies, value._row_kind)
    copy = getattr(cls, "__copied__", None)
    if copy is not None:
        return copy(value)
    return pickle.loads(dumps(value))


def copied_block(values: list[Any]) -> list[Any]:
    """Copy every value of a block; return the block itself if all its values are atoms or tuples of atoms."""
    if _all_atoms(set(map(type, values))) or (_compiled is not None and _compiled.are_frozen(values, ATOMS)):
        return values
    return list(map(copy_mutable, values))
