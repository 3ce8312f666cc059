"""The modules of ``pyflink``: the names of flintstream's modules, and additional names of PyFlink's.

A proxy exports the same objects as the flintstream module behind it, and adds nothing to that module. Names that
PyFlink's module imports from elsewhere, like ``Duration`` in ``pyflink.common.watermark_strategy``, are only here.
"""

from __future__ import annotations

import json
from functools import cache, partial
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from pkgutil import get_data
from types import ModuleType
from typing import Any, TypeVar

from flintstream.compat._stand_ins import stand_in

__all__ = ["MODULE", "STAND_IN", "TYPE_VARIABLE", "module_behind", "proxy_spec"]

MIRRORED = ("common", "dataframe", "datastream", "metrics", "table")
HOME = "flintstream.compat.home"

_TABLE = json.loads(get_data(__name__, "names.json") or b"")
NAMES: dict[str, dict[str, str]] = _TABLE["names"]
"""Names that only PyFlink's modules have, by module and origin. ``python -m tests.parity.surface`` writes them."""
WITHOUT_ALL = frozenset(_TABLE["without_all"])
"""Modules whose star import gives all public names: their ``__all__`` is missing or complete."""

MODULE = "a module"
STAND_IN = "nothing"
TYPE_VARIABLE = "a type variable"
"""Markers in the table of names for those that are not found in another module."""


def module_behind(name: str) -> str | None:
    """Return the name of the flintstream module behind a PyFlink module; None if there is none.

    >>> module_behind("pyflink.common.time"), module_behind("pyflink"), module_behind("pyflink.nonsense")
    ('flintstream.common.time', 'flintstream.compat.home', None)
    """
    rest = name.partition(".")[2]
    base = "flintstream" if rest.partition(".")[0] in MIRRORED else HOME
    candidate = f"{base}.{rest}" if rest else base
    try:
        return candidate if find_spec(candidate) is not None else None
    except ModuleNotFoundError:  # the parent is missing
        return None


@cache
def _origins(module: str) -> dict[str, str]:
    """Return the origins of names that the module behind lacks."""
    return {name: origin for origin, names in NAMES.get(module, {}).items() for name in names.split()}


def _fill(proxy: ModuleType, behind: ModuleType | None) -> None:
    """Copy the public names into the proxy, so that reading them is as fast as in any module."""
    mine = vars(proxy)
    origins = _origins(proxy.__name__)
    if behind is not None:
        mine["__doc__"] = behind.__doc__
        for name, value in vars(behind).items():
            if name not in origins and not _is_private(name) and not isinstance(value, ModuleType):
                mine[name] = value
    everything = getattr(behind, "__all__", None)
    if everything is not None or behind is None:
        more = origins if behind is None or proxy.__name__ in WITHOUT_ALL else ()
        mine["__all__"] = [*(everything or ()), *(name for name in more if not name.startswith("_"))]
    mine["__getattr__"] = partial(_find, proxy, behind)
    mine["__dir__"] = partial(_names, proxy, behind)


def _find(proxy: ModuleType, behind: ModuleType | None, name: str) -> Any:
    """Return a name that is not in the proxy yet."""
    origin = _origins(proxy.__name__).get(name)
    value = _from_behind(proxy, behind, name) if origin is None else _resolve(proxy.__name__, name, origin)
    if not _is_private(name):
        vars(proxy)[name] = value
    return value


def _from_behind(proxy: ModuleType, behind: ModuleType | None, name: str) -> Any:
    if "__path__" in vars(proxy) and not name.startswith("_"):
        try:
            return import_module(f"{proxy.__name__}.{name}")
        except ModuleNotFoundError:
            pass
    if behind is not None and not _is_special(name):
        try:
            return getattr(behind, name)
        except AttributeError:
            pass
    raise AttributeError(f"module {proxy.__name__!r} has no attribute {name!r}", name=name, obj=proxy)


def _names(proxy: ModuleType, behind: ModuleType | None) -> list[str]:
    of_behind = (name for name in dir(behind) if not _is_special(name)) if behind is not None else ()
    return sorted({*vars(proxy), *of_behind, *_origins(proxy.__name__)})


def _is_private(name: str) -> bool:
    return name.startswith("_") and name != "__version__"


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name != "__version__"


def _resolve(module: str, name: str, origin: str) -> Any:
    if origin == STAND_IN:
        return stand_in(module, name)
    if origin == TYPE_VARIABLE:
        variable = TypeVar(name)  # type: ignore[misc]  # the name is dynamic
        variable.__module__ = module
        return variable
    return import_module(name) if origin == MODULE else getattr(import_module(origin), name)


class _Proxy(ModuleType):
    """A package that keeps its functions when their modules are imported later, such as ``pyflink.dataframe.udf``.

    In PyFlink these modules are imported before the package binds the names.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return import_module, (self.__name__,)

    def __setattr__(self, name: str, value: object) -> None:
        is_own = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if not is_own or isinstance(vars(self).get(name), (ModuleType, type(None))):
            super().__setattr__(name, value)


class _ProxyLoader(SourceFileLoader):
    """Creates a proxy. Reads files, sources and resources like the loader of the module behind."""

    def __init__(self, name: str, behind: str | None, path: str) -> None:
        super().__init__(name, path)
        self._behind = behind

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _Proxy
        _fill(module, None if self._behind is None else import_module(self._behind))


def proxy_spec(name: str) -> ModuleSpec | None:
    """Return the import spec of a ``pyflink`` module; None if there is no such module."""
    behind = module_behind(name)
    if behind is None:
        return ModuleSpec(name, _ProxyLoader(name, None, ""), origin="flintstream") if name in NAMES else None
    found = find_spec(behind)
    path = "" if found is None or found.origin is None else found.origin
    spec = ModuleSpec(name, _ProxyLoader(name, behind, path), origin=path)
    spec.has_location = True
    if found is not None and found.submodule_search_locations is not None:
        spec.submodule_search_locations = list(found.submodule_search_locations)
    return spec
