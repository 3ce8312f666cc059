"""Virtual environments with the other releases of Spark, made once and kept in the user's cache directory.

The variable ``FLINTSTREAM_VERSIONS`` names another directory for them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIRECTORY = "FLINTSTREAM_VERSIONS"
INSTALL_SECONDS = 1800

SPARKS = {
    "3.5": ("3.10", "3.11"),
    "4.0": ("3.12", "3.10", "3.11", "3.13"),
    "4.1": ("3.10", "3.11", "3.12", "3.13"),
    "4.2": ("3.13", "3.10", "3.11", "3.12"),
    "4.3": ("3.11", "3.12", "3.13"),
}
"""The releases of Spark, and the releases of Python that each runs with; the first one that is there is tested."""

CONNECT = tuple(spark for spark in SPARKS if spark != "3.5")
"""The releases whose Spark Connect flintstream supports."""

TOOLS = ("pytest>=8.4", "pytest-timeout>=2.3.1", "pytest-xdist>=3.6", "hypothesis>=6.100")


class NoEnvironmentError(Exception):
    """There is no Python for a release of Spark, or its packages cannot be installed."""


def python_of(spark: str) -> str:
    """Return an interpreter for a release of Spark: this one, one on the PATH, or one that pyenv has installed.

    Raises:
        NoEnvironmentError: There is none.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    for version in SPARKS[spark]:
        if version == "{}.{}".format(*sys.version_info):
            return sys.executable
        found = sorted(str(path) for path in pyenv.glob(f"{version}.*/bin/python"))
        found += filter(None, [shutil.which(f"python{version}")])
        for python in found:
            told = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
            if told.stdout.startswith(f"Python {version}."):
                return python
    raise NoEnvironmentError(f"PySpark {spark} needs Python {' or '.join(sorted(SPARKS[spark]))}")


def requirements(spark: str) -> list[str]:
    """Return what a release of Spark is tested with: flintstream's own requirements and the tools of the tests."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    wanted = ("dataframes", "rocksdb", *(("connect",) if spark in CONNECT else ()))
    extras = [re.search(rf"^{extra} = \[(.*)\]", text, re.MULTILINE) for extra in wanted]
    found = [name for part in [listed, *extras] if part for name in re.findall(r'"(.+?)"', part[1])]
    return [f"pyspark=={spark}.*", *(name for name in found if not name.startswith("pyspark")), *TOOLS]


def environment(spark: str, seconds: float = INSTALL_SECONDS) -> Path:
    """Return the interpreter of the virtual environment for a release of Spark, which is made if it is not there.

    Raises:
        NoEnvironmentError: It cannot be made; the message has the reason.
        TimeoutError: It cannot be made in so many seconds.
    """
    until = time.monotonic() + min(seconds, INSTALL_SECONDS)
    python, needed = python_of(spark), requirements(spark)
    parent = Path(os.environ.get(DIRECTORY) or Path.home() / ".cache" / "flintstream" / "versions")
    parent.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256("\n".join([python, *needed]).encode()).hexdigest()[:8]
    target = parent / f"{spark}-{key}"
    made = target / "bin" / "python"
    with (parent / f"{spark}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (target / ".ready").exists():
            return made
        for older in parent.glob(f"{spark}-*"):
            shutil.rmtree(older)
        _run([python, "-m", "venv", str(target)], until)
        _run(
            [str(made), "-m", "pip", "install", "--quiet", "setuptools", "wheel"], until
        )  # PySpark is built from its source
        _run([str(made), "-m", "pip", "install", "--quiet", *needed], until)
        (target / ".ready").touch()
    return made


def _run(command: list[str], until: float) -> None:
    left = until - time.monotonic()
    try:
        done = subprocess.run(  # noqa: S603 - written above
            command, capture_output=True, text=True, check=False, timeout=max(left, 0)
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError("its packages were not installed in time") from error
    except OSError as error:
        raise NoEnvironmentError(str(error)) from error
    if done.returncode:
        raise NoEnvironmentError(f"{' '.join(command[:4])} ...: {done.stderr.strip()[-500:]}")
