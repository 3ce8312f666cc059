"""Base class of PyFlink's wrappers."""

from __future__ import annotations

from typing import Any

__all__ = ["JavaObjectWrapper"]


class JavaObjectWrapper:
    """Holds a JVM object. Unused; kept for programs that refer to the class.

    >>> JavaObjectWrapper("anything").get_java_object()
    'anything'
    """

    def __init__(self, j_object: Any) -> None:
        self._j_object = j_object

    def get_java_object(self) -> Any:
        """Return the object."""
        return self._j_object
