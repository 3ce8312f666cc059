"""Jars of Maven Central, downloaded once by PySpark's Ivy and kept in a cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pyspark

DOWNLOAD_SECONDS = 600


class NoJarsError(Exception):
    """The jars cannot be had on this machine; the message has the reason."""


def jars(organisation: str, module: str, version: str, name: str, variable: str) -> Path:
    """Return the directory with the jars of a module and of all that it needs; download them if necessary.

    It is the one that an environment variable names, ``~/.cache/flintstream/<name>-<version>`` by default.
    """
    own = os.environ.get(variable)
    directory = Path(own) if own else Path.home() / ".cache" / "flintstream" / f"{name}-{version}"
    if directory.is_dir():
        return directory
    ivy = next(iter(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar")), None)
    if shutil.which("java") is None or ivy is None:
        raise NoJarsError("it needs java, and PySpark's Ivy to download it")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{directory}.lock").open("w") as lock, tempfile.TemporaryDirectory(dir=directory.parent) as work:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if directory.is_dir():  # another process has just downloaded them
            return directory
        command = ["java", "-jar", str(ivy), "-cache", f"{work}/cache", "-confs", "default", "-types", "jar", "bundle"]
        command += ["-dependency", organisation, module, version]
        command += ["-retrieve", f"{work}/jars/[artifact]-[revision](-[classifier]).[ext]"]
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise NoJarsError(f"Maven Central has not sent the jars within {DOWNLOAD_SECONDS} s") from None
        if done.returncode or not list(Path(work, "jars").glob(f"{module}-{version}.jar")):
            why = [line for line in done.stdout.splitlines() if "UNRESOLVED" in line or "not found" in line]
            raise NoJarsError(f"the jars cannot be downloaded: {(why or done.stderr.splitlines() or ['?'])[0].strip()}")
        Path(work, "jars").rename(directory)
    return directory


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
