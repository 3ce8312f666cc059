"""Arguments of calls into the JVM, without imports that these arguments do not need.

With each argument of the first call, PySpark looks whether it is a value of numpy. From 4.0 on, the module that it asks
imports numpy, pandas, pyarrow and unittest, which takes half a second of CPU in a process that needs none of them.
"""

from __future__ import annotations

from typing import Any

__all__ = ["avoid_numpy"]


class Converter:
    """A converter for values of numpy, which is not asked about others."""

    def __init__(self, inner: Any) -> None:
        """Take PySpark's converter."""
        self._inner = inner

    def can_convert(self, value: Any) -> bool:
        """Tell whether a value is one of numpy. A value whose type Python has built in is not."""
        return type(value).__module__ != "builtins" and bool(self._inner.can_convert(value))

    def convert(self, value: Any, client: Any) -> Any:
        """Return the value as the JVM takes it."""
        return self._inner.convert(value, client)


def avoid_numpy() -> None:
    """Let PySpark ask about values that may be from numpy only."""
    import pyspark.sql.types  # noqa: F401 - registers its converters
    from py4j.protocol import INPUT_CONVERTER

    for place, known in enumerate(INPUT_CONVERTER):
        if type(known).__module__ == "pyspark.sql.types" and type(known).__name__.startswith("Numpy"):
            INPUT_CONVERTER[place] = Converter(known)
