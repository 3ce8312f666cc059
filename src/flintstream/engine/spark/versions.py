"""The differences between the releases of Spark that flintstream runs on: one function for each.

No other module asks for the release. ``docs/reference/versions.md`` lists the supported ones.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "OLDEST",
    "Head",
    "Task",
    "arrow_schema",
    "has_unix_sockets",
    "release",
    "scala",
    "schema_of_json",
    "schema_of_text",
    "spark_home",
    "table_of",
    "task_of",
    "version",
    "wrap_function",
]

OLDEST = (3, 5)
"""The oldest release that is tested; pyproject.toml has the same bound."""


class Head(Protocol):
    """Reads the beginning of a task; empty or None at its end."""

    def bytes(self, count: int) -> bytes:
        """Return the next bytes."""

    def integer(self) -> int | None:
        """Return the next integer, of four bytes."""

    def text(self) -> str:
        """Return the next text, which follows its length."""


_VERSION = re.compile(r"""^__version__\b[^=\n]*=\s*["']([^"'\n]+)["']""", re.MULTILINE)


@cache
def spark_home() -> Path:
    """Return the directory of the PySpark of this process, which is also Spark's home. Does not import it: it is slow.

    Raises:
        ModuleNotFoundError: It is not installed.
    """
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    return Path(spec.submodule_search_locations[0])


@cache
def version() -> str:
    """Return the version of the PySpark in this process, without importing it if possible."""
    if "pyspark" not in sys.modules:
        with suppress(OSError):
            found = _VERSION.search((spark_home() / "version.py").read_text(encoding="utf-8"))
            if found is not None:
                return found[1]
    import pyspark

    return pyspark.__version__


@cache
def release() -> tuple[int, int]:
    """Return the release of the PySpark in this process."""
    major, minor = version().split(".")[:2]
    return int(major), int(minor)


def scala() -> str:
    """Return the version of Scala that Spark's classes are made with: 2.12 in 3.5, 2.13 from 4.0 on."""
    return "2.13" if release() >= (4, 0) else "2.12"


def has_unix_sockets() -> bool:
    """Tell whether Spark can reach its Python workers through Unix domain sockets: from 4.1 on."""
    return release() >= (4, 1)


def wrap_function(context: Any, function: Callable[..., Any], deserializer: Any, serializer: Any) -> Any:
    """Return a Python function as the JVM takes it. It is in the package ``pyspark.core`` from 4.0 on."""
    rdd = import_module("pyspark.core.rdd" if release() >= (4, 0) else "pyspark.rdd")
    return rdd._wrap_function(context, function, deserializer, serializer)


def arrow_schema(schema: Any) -> Any:
    """Return Arrow's schema for one of Spark, with timestamps in UTC, which 4.2 and 4.3 do on demand only."""
    types = import_module("pyspark.sql.pandas.types")
    return types.to_arrow_schema(schema, timezone="UTC") if release() >= (4, 2) else types.to_arrow_schema(schema)


def schema_of_text(text: str) -> Any:
    """Return Spark's schema for a text such as ``name string, age int``. It has a public function from 4.0 on."""
    types = import_module("pyspark.sql.types")
    return types.StructType.fromDDL(text) if release() >= (4, 0) else types._parse_datatype_string(text)


def schema_of_json(text: str) -> Any:
    """Return a schema from its JSON, which all releases write alike, unlike its pickle."""
    return import_module("pyspark.sql.types").StructType.fromJson(json.loads(text))


def table_of(rows: Sequence[Any], schema: Any) -> Any:
    """Return Arrow's table of rows with values as Spark takes them. Only releases from 4.0 on can."""
    return import_module("pyspark.sql.conversion").LocalDataToArrowConversion.convert(rows, schema, False)


class Task(NamedTuple):
    """What the head of a task names."""

    properties: Mapping[str, str]
    """Spark's local properties."""
    partition: int
    number: int
    """What Spark calls the TID: it belongs to one attempt of the task."""


def task_of(first: int | None, head: Head) -> Task | None:
    """Return what the head of a task names; None if it is not such a head.

    4.3 begins with a marker and the length of the head; before that, a task begins with its number. From 4.2 on, JSON
    describes the task. 3.5 to 4.1 send its fields one after the other, and 3.5 and 4.0 always send where the tasks of a
    barrier stage meet, later releases only in such a stage.

    Args:
        first: The first integer, which is already read.
        head: The rest.
    """
    if release() >= (4, 3):
        from pyspark.serializers import SpecialLengths

        if first != SpecialLengths.START_OF_INIT_MESSAGE:
            return None
        head.bytes(8)  # length of the message, number of the task
    elif first is None or first < 0:
        return None
    head.text()  # version of Python
    if release() >= (4, 2):
        context = head.text()
        task = json.loads(context) if context else None
        return None if task is None else Task(task["localProperties"], task["partitionId"], task["taskAttemptId"])
    return _task_in_fields(head)


def _task_in_fields(head: Head) -> Task | None:
    if head.bytes(1) != b"\0" or release() <= (4, 0):
        head.integer()  # port
        head.text()  # secret; without a port, the path of a socket
    head.integer()  # stage
    partition = head.integer()
    head.integer()  # attempt
    number = head.bytes(8)
    head.integer()  # cores
    for _ in range(head.integer() or 0):
        head.text(), head.text()
        for _ in range(head.integer() or 0):
            head.text()
    count = head.integer()
    if partition is None or count is None:
        return None
    return Task({head.text(): head.text() for _ in range(count)}, partition, int.from_bytes(number, "big"))
