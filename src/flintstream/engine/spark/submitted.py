"""Settings that Spark has from outside the program: ``PYSPARK_SUBMIT_ARGS`` and ``spark-defaults.conf``."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GATEWAY_PORT", "defaults_file", "flags"]

GATEWAY_PORT = "PYSPARK_GATEWAY_PORT"
"""The variable that ``spark-submit`` gives to a Python program; the JVM behind that port knows all settings."""

_KEY_OF_FLAG = {
    "--master": "spark.master",
    "--remote": "spark.remote",
    "--name": "spark.app.name",
    "--deploy-mode": "spark.submit.deployMode",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--driver-cores": "spark.driver.cores",
    "--executor-memory": "spark.executor.memory",
    "--executor-cores": "spark.executor.cores",
    "--num-executors": "spark.executor.instances",
    "--total-executor-cores": "spark.cores.max",
    "--queue": "spark.yarn.queue",
}


def flags(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings that ``PYSPARK_SUBMIT_ARGS`` names.

    >>> flags({"PYSPARK_SUBMIT_ARGS": "--master local[3] --conf spark.ui.enabled=true pyspark-shell"})
    {'spark.master': 'local[3]', 'spark.ui.enabled': 'true'}
    """
    words = iter(shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "")))
    found: dict[str, str] = {}
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in {"--conf", "-c"}:
            key, _, setting = (value if equals else next(words, "")).partition("=")
            found[key] = setting
        elif flag in _KEY_OF_FLAG:
            found[_KEY_OF_FLAG[flag]] = value if equals else next(words, "")
    return found


def defaults_file(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings in ``spark-defaults.conf`` of ``SPARK_CONF_DIR``, else of ``SPARK_HOME``."""
    directory = environment.get("SPARK_CONF_DIR")
    if not directory and environment.get("SPARK_HOME"):
        directory = str(Path(environment["SPARK_HOME"], "conf"))
    path = Path(directory or "", "spark-defaults.conf")
    if not directory or not path.is_file():
        return {}
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (re.split(r"\s*[=:\s]\s*", line, maxsplit=1) for line in lines if line and line[0] not in "#!")
    return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs if pair[0].startswith("spark.")}
