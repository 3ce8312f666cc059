"""Modules of functions; mirrors ``pyflink.table.module``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ModuleEntry"]


@dataclass(frozen=True)
class ModuleEntry:
    """The name of a module, and whether functions are looked up in it.

    >>> ModuleEntry("core", used=True).name()
    'core'
    >>> ModuleEntry("core", used=True).used()
    True
    """

    _name: str
    _used: bool

    def __init__(self, name: str, used: bool) -> None:
        """Take both."""
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_used", used)

    def name(self) -> str:
        """Return the name."""
        return self._name

    def used(self) -> bool:
        """Return whether functions are looked up in it."""
        return self._used
