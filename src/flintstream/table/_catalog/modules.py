"""The modules of a session: names for groups of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, at, unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._errors import Place

CORE = "core"
"""The module of the built-in functions, the only one that can be loaded."""


class Modules:
    """The loaded modules, and which are used.

    Without the core module, ``SHOW FUNCTIONS`` lists no built-in function. Queries still call
    them; in Flink, some fail.
    """

    def __init__(self) -> None:
        self.loaded = {CORE: True}

    @property
    def names(self) -> list[str]:
        """The modules that are used."""
        return [name for name, used in self.loaded.items() if used]

    def load(self, name: str, place: Place | None = None) -> None:
        """Load a module.

        Raises:
            SqlError: It is loaded, or is not the core module.
        """
        if name in self.loaded:
            raise SqlError(f"LOAD MODULE{at(place)}: A module with name '{name}' already exists")
        if name != CORE:
            raise unsupported(f"the module '{name}'", place, "its functions can be Python functions: CREATE FUNCTION")
        self.loaded[name] = True

    def unload(self, name: str, place: Place | None = None) -> None:
        """Remove a module.

        Raises:
            SqlError: It is not loaded.
        """
        if self.loaded.pop(name, None) is None:
            raise SqlError(f"UNLOAD MODULE{at(place)}: No module with name '{name}' exists")

    def use(self, names: Sequence[str]) -> None:
        """Use these of the loaded modules.

        Raises:
            SqlError: One is not loaded, or named twice.
        """
        for name in names:
            if name not in self.loaded:
                raise SqlError(f"USE MODULES: No module with name '{name}' exists")
            if names.count(name) > 1:
                raise SqlError(f"USE MODULES: Module '{name}' appears more than once")
        self.loaded = dict.fromkeys(names, True) | {name: False for name in self.loaded if name not in names}
