"""What PyFlink's own wrappers derive from."""

from __future__ import annotations

from typing import Any

__all__ = ["JavaObjectWrapper"]


class JavaObjectWrapper:
    """Holds an object of the JVM; kept for programs that name the class, nothing here derives from it."""

    def __init__(self, j_object: Any) -> None:
        self._j_object = j_object

    def get_java_object(self) -> Any:
        """Return the object."""
        return self._j_object
