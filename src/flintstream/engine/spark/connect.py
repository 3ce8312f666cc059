"""Recognizes programs that reach Spark only through Spark Connect."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from flintstream.common._text.secrets import without_secrets
from flintstream.engine.spark.submitted import flags
from flintstream.errors import FlintstreamError
from flintstream.options.execution import MASTER

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["address_of", "find_connect", "is_remote", "refuse_connect"]

_ADDRESS = "SPARK_REMOTE"
_MODE = "SPARK_CONNECT_MODE_ENABLED"


def refuse_connect(configuration: Mapping[str, str], session: object = None) -> None:
    """Raise an error if what needs RDDs or the driver's JVM would have to use Spark Connect.

    Args:
        configuration: keys and values.
        session: the Spark session that the program passes, if any.

    Raises:
        FlintstreamError: The program has a Spark Connect session, or its settings ask for one.
    """
    found = find_connect(configuration) if session is None or not is_remote(session) else "a Spark Connect session"
    if found is not None:
        raise FlintstreamError(
            f"the program is set to use Spark Connect ({found}), where a classic Spark session does not start, because "
            "it needs RDDs or the driver's JVM: give the session of Spark Connect, or use a classic one "
            f"with spark-submit or with '{MASTER.key}' (--master) in a process without Spark Connect"
        )


def find_connect(configuration: Mapping[str, str]) -> str | None:
    """Return what asks for Spark Connect. A classic context that is active, or a classic master, comes first."""
    classic = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    if getattr(classic, "_active_spark_context", None) is not None:
        return None
    connect = sys.modules.get("pyspark.sql.connect.session")
    kind = getattr(connect, "SparkSession", None)
    if kind is not None and (kind.getActiveSession() or getattr(kind, "_default_session", None)) is not None:
        return "an active session"
    if os.environ.get(_MODE):
        return f"{_MODE} is set"
    if find_spec("pyspark") is not None and find_spec("py4j") is None:
        return "only its client is installed"
    master = configuration.get(MASTER.key) or configuration.get("spark.master") or ""
    if master.startswith("sc:"):
        return f"the master is {without_secrets(master)}"
    if master:
        return None
    if "spark.remote" in configuration:
        return f"spark.remote={without_secrets(configuration['spark.remote'])}"
    if _ADDRESS in os.environ:
        return f"{_ADDRESS}={without_secrets(os.environ[_ADDRESS])}"
    remote = flags().get("spark.remote")
    return f"--remote {without_secrets(remote)}" if remote else None


def is_remote(found: object) -> bool:
    """Tell whether a session or a DataFrame is one of Spark Connect."""
    return ".connect." in f".{type(found).__module__}."


def address_of(configuration: Mapping[str, str]) -> str:
    """Return the address of the Connect server that a job with these settings uses when the program has no session.

    Raises:
        FlintstreamError: No setting names one.
    """
    master = configuration.get(MASTER.key) or configuration.get("spark.master") or ""
    if master.startswith("sc:"):
        return master
    given = configuration.get("spark.remote") or os.environ.get(_ADDRESS) or flags().get("spark.remote")
    if not given:
        raise FlintstreamError(
            f"only Spark Connect can be used here, and no setting names its server: set '{MASTER.key}' (--master) or "
            f"{_ADDRESS} to an address such as sc://host:15002"
        )
    return given
