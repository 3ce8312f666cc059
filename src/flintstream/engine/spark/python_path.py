"""Where Spark's Python workers import pyspark from: the installed package rather than archives of its source.

Spark puts the archives of ``SPARK_HOME`` and its own jar first in the search path of its workers. Python compiles what
it imports from an archive without byte code each time, which takes most of a second per process. And each process reads
the directories of these archives, twice, for its first import: that of the jar has 6,000 entries.
"""

from __future__ import annotations

import os
import sys
from fnmatch import fnmatch

__all__ = ["prefer_package"]


def prefer_package(path: list[str], home: str | None) -> None:
    """Remove Spark's archives from a search path if it also finds the packages that they contain.

    Args:
        path: The search path, usually ``sys.path``.
        home: The value of ``SPARK_HOME``: the directory of the package if Spark was installed with pip.
    """
    if not home or not os.path.exists(os.path.join(home, "__init__.py")):  # noqa: PTH110, PTH118
        return
    sources, jars = os.path.join(home, "python", "lib"), os.path.join(home, "jars")  # noqa: PTH118
    archives = [entry for entry in path if _is_in(sources, entry, "pyspark.zip", "py4j-*-src.zip")]
    others = [entry for entry in path if entry not in archives and not _is_in(jars, entry, "spark-core_*.jar")]
    found = _first_with("pyspark", others)
    if found is None or os.path.realpath(os.path.join(found, "pyspark")) != os.path.realpath(home):  # noqa: PTH118
        return
    if _first_with("py4j", others) is None:
        others += [entry for entry in archives if os.path.basename(entry).startswith("py4j")]  # noqa: PTH119
    path[:] = others


def _is_in(directory: str, entry: str, *names: str) -> bool:
    """Tell whether an entry of a search path is a file of a directory, with a name like one of these."""
    place, name = os.path.split(entry)
    return place == directory and any(fnmatch(name, pattern) for pattern in names)


def _first_with(package: str, path: list[str]) -> str | None:
    """Return the first entry of a search path that has a package."""
    having = (entry for entry in path if os.path.exists(os.path.join(entry, package, "__init__.py")))  # noqa: PTH110, PTH118
    return next(having, None)


if "PYTHON_WORKER_FACTORY_SECRET" in os.environ or "PYTHON_UNIX_DOMAIN_ENABLED" in os.environ:  # Spark's own process
    _before = list(sys.path)
    prefer_package(sys.path, os.environ.get("SPARK_HOME"))
    for _entry in {*_before} - {*sys.path}:
        # Otherwise, Python reads these archives' directories again whenever a task adds a file to the path.
        sys.path_importer_cache.pop(_entry, None)
