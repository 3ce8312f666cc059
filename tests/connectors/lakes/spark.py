"""Spark 4.0 with the jars of Delta Lake and Iceberg, in a process of its own: a second implementation of both.

PySpark is installed in the virtual environment of ``make test-versions``, and Maven Central sends the jars, once.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
RELEASE = "4.0"
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)


_FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_QUICK = {
    "spark.ui.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}
"""Tables have few rows, and statements take less time than their compilation."""


class NoSparkError(Exception):
    """This Spark, or the jars, cannot be had on this machine; the message has the reason."""


def interpreter() -> Path:
    """Return the Python that has this Spark.

    Raises:
        NoSparkError: It cannot be made.
    """
    from tests.versions.environments import NoEnvironmentError, environment

    try:
        return environment(RELEASE)
    except (NoEnvironmentError, TimeoutError) as error:
        raise NoSparkError(f"no Spark {RELEASE}: {error}") from None


def jars() -> list[Path]:
    """Return the jars of both; what Spark has itself is left out.

    Raises:
        NoSparkError: They cannot be downloaded.
    """
    from tests import maven

    try:
        delta = maven.jars("io.delta", "delta-spark_2.13", "4.0.0", "delta-spark", "FLINTSTREAM_DELTA_JARS")
        module = f"iceberg-spark-runtime-{RELEASE}_2.13"
        iceberg = maven.jars("org.apache.iceberg", module, "1.10.0", "iceberg-spark", "FLINTSTREAM_ICEBERG_JARS")
    except maven.NoJarsError as error:
        raise NoSparkError(str(error)) from None
    return sorted([*delta.glob("delta-*.jar"), *iceberg.glob("iceberg-*.jar")])


def settings() -> dict[str, str]:
    """Return the settings of a session that has both."""
    return {
        "spark.jars": ",".join(map(str, jars())),
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }


def environment_of(python: Path, *options: str) -> dict[str, str]:
    """Return the environment variables of programs of this Python, with options of spark-submit."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST_", "PYSPARK_", "SPARK_"))}
    return {
        **kept,
        "PATH": os.pathsep.join([str(python.parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_SUBMIT_ARGS": shlex.join(["--driver-java-options", _FLAGS, *options, "pyspark-shell"]),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


class Spark:
    """A session that runs statements of SQL."""

    def __init__(self, directory: Path) -> None:
        """Start it in a directory, with nothing but its log there."""
        python, self._log = interpreter(), directory / "log"
        command = [str(python), "-m", "tests.connectors.lakes.spark", json.dumps(settings())]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - written above
                command,
                cwd=directory,
                env=environment_of(python),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def sql(self, *statements: str) -> list[list[object]]:
        """Run statements, and return the rows of the last one, sorted."""
        rows: list[list[object]] = []
        for statement in statements:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(statement) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            assert line, self._log.read_text(errors="replace")[-3000:]
            kind, found = json.loads(line)
            assert kind == "rows", f"{statement}: {found}"
            rows = found
        return sorted(rows, key=repr)

    def iceberg(self, name: str, warehouse: Path) -> None:
        """Let a name mean the tables below a directory."""
        catalog = f"spark.sql.catalog.{name}"
        self.sql(
            f"SET {catalog} = org.apache.iceberg.spark.SparkCatalog",
            f"SET {catalog}.type = hadoop",
            f"SET {catalog}.warehouse = {warehouse}",
            f"SET `{catalog}.cache-enabled` = false",
        )

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.communicate()


def _serve(given: dict[str, str]) -> None:
    """Run each statement of the standard input."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]")
    for key, text in {**_QUICK, **given}.items():
        builder = builder.config(key, text)
    spark = builder.getOrCreate()
    for line in sys.stdin:
        try:
            answer: tuple[str, object] = ("rows", [[*row] for row in spark.sql(json.loads(line)).collect()])
        except Exception as error:  # noqa: BLE001 - the test that sent it tells
            answer = ("error", str(error)[:3000])
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
