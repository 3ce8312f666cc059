"""The text of all parts of an object, to see whether an option changes any of them."""

from __future__ import annotations

from collections import deque
from functools import partial


def parts_of(value):
    """Return the attributes of an object by name."""
    slots = (name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name))
    return {**{name: getattr(value, name) for name in slots}, **getattr(value, "__dict__", {})}


def text_of(value, above=frozenset()):
    if id(value) in above or len(above) > 16:
        return ""
    above |= {id(value)}
    if isinstance(value, (str, int, float, type(None))):
        return repr(value)
    if isinstance(value, dict):
        return ",".join(f"{text_of(key, above)}:{text_of(item, above)}" for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return ",".join(text_of(item, above) for item in value)
    if isinstance(value, partial):
        return text_of((value.func, value.args, value.keywords), above)
    return getattr(value, "__qualname__", None) or f"{type(value).__name__}({text_of(parts_of(value), above)})"
