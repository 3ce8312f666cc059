"""Where Spark's Python workers import pyspark from: the installed package rather than archives of its source.

Spark puts the archives of ``SPARK_HOME`` first in the search path of its workers. Python compiles what it imports from
an archive without byte code each time, which takes most of a second per process.
"""

from __future__ import annotations

import os
import sys

__all__ = ["prefer_package"]


def prefer_package(path: list[str], home: str | None) -> None:
    """Move Spark's archives to the end of a search path if it also finds the package that they are part of.

    Args:
        path: The search path, usually ``sys.path``.
        home: The value of ``SPARK_HOME``: the directory of the package if Spark was installed with pip.
    """
    if not home or not os.path.exists(os.path.join(home, "__init__.py")):  # noqa: PTH110, PTH118
        return
    library = os.path.join(home, "python", "lib")  # noqa: PTH118
    archives = [entry for entry in path if entry.endswith(".zip") and os.path.dirname(entry) == library]  # noqa: PTH120
    others = [entry for entry in path if entry not in archives]
    having = (entry for entry in others if os.path.exists(os.path.join(entry, "pyspark", "__init__.py")))  # noqa: PTH110, PTH118
    first = next(having, None)
    if archives and first is not None and os.path.realpath(os.path.join(first, "pyspark")) == os.path.realpath(home):  # noqa: PTH118
        path[:] = [*others, *archives]


if "PYTHON_WORKER_FACTORY_SECRET" in os.environ or "PYTHON_UNIX_DOMAIN_ENABLED" in os.environ:  # Spark's own process
    prefer_package(sys.path, os.environ.get("SPARK_HOME"))
