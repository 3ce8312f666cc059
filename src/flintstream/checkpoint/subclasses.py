"""Scalars of NumPy and subclasses of dict as plain data, with their types.

NumPy is looked for only where state contains its scalars: it is an optional package.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict
from typing import Any

from flintstream.checkpoint.registry import BY_TAG, Extension
from flintstream.errors import CorruptDataError

__all__ = ["to_tagged"]

_NUMPY = "numpy"
_PLAIN: dict[str, type] = {
    "bool": bool,
    **dict.fromkeys((f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), int),
    **dict.fromkeys(("float16", "float32", "float64"), float),
    "str": str,
}
"""Names of NumPy's types whose values a plain value determines, with the type of that. The rest is pickled.

Keys of the rest, such as times, are compared by their pickled bytes, which savepoints contain.
"""
_DICTS: dict[type, str] = {OrderedDict: "OrderedDict", Counter: "Counter"}


def to_tagged(value: Any) -> tuple[str, Any] | None:
    """Return a tag and plain data for a value that no extension is registered for; None if it must be pickled.

    >>> to_tagged(OrderedDict(a=1))
    ('OrderedDict', (['a'], [1]))
    """
    cls = type(value)
    if cls in _DICTS:
        return None if vars(value) else (_DICTS[cls], (list(value), list(value.values())))
    numpy = sys.modules.get(_NUMPY)
    if numpy is None or not isinstance(value, numpy.generic):
        return None
    if cls is numpy.str_:
        return _NUMPY, ("str", str.__str__(value))
    name = value.dtype.name
    if name not in _PLAIN or numpy.dtype(name).type is not cls:  # long double, a twin of another type, a subclass
        return None
    return _NUMPY, (name, value.item())


def _scalar(plain: tuple[str, Any]) -> Any:
    """Return a scalar of NumPy, or the plain value where NumPy is not installed."""
    name, value = plain
    if _PLAIN.get(name) is not type(value):
        raise CorruptDataError(f"{value!r} as a value of the type {name!r} of NumPy")
    try:
        import numpy as np
    except ImportError:
        return value
    return np.dtype(name).type(value)


def _no_value(value: Any) -> Any:
    raise AssertionError(f"to_tagged() writes {value!r}")


def _readable(tag: str, from_plain: Any) -> None:
    BY_TAG[tag] = Extension(tag, _no_value, from_plain, _no_value)


_readable(_NUMPY, _scalar)
_readable("OrderedDict", lambda plain: OrderedDict(zip(*plain, strict=True)))
_readable("Counter", lambda plain: Counter(dict(zip(*plain, strict=True))))
