"""Choice between the engines that run jobs on Spark. Neither imports PySpark before a job starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.engine.connect.engine import ConnectEngine
from flintstream.engine.connect.session import connect_session
from flintstream.engine.spark import session
from flintstream.engine.spark.connect import find_connect
from flintstream.engine.spark.engine import SparkEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["create_spark_engine", "spark_parallelism"]


def create_spark_engine(configuration: Mapping[str, str]) -> SparkEngine | ConnectEngine:
    """Return the engine for the program's session or for the master in its settings.

    Raises:
        FlintstreamError: The engine does not support an option.
    """
    return SparkEngine(configuration) if find_connect(configuration) is None else ConnectEngine(configuration)


def spark_parallelism(configuration: Mapping[str, str], *, start: bool) -> int | None:
    """Return how many subtasks fill the cluster, None if that is unknown; see ``session.default_parallelism``."""
    if find_connect(configuration) is None:
        return session.default_parallelism(configuration, start=start)
    return connect_session(configuration).parallelism if start else None
