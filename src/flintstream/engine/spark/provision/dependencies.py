"""Ships Python files, archives and packages to Spark's workers, and selects their interpreter."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.engine.spark.jvm.context import try_to_unpack
from flintstream.engine.spark.provision.executors import has_executors, prepare_context
from flintstream.engine.spark.provision.packing import shipping_directory
from flintstream.engine.spark.slots import variant
from flintstream.errors import FlintstreamError
from flintstream.options.execution import PYTHON_ARCHIVES, PYTHON_EXECUTABLE, PYTHON_FILES, PYTHON_REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.options.option import Option

UNPACKED = "FLINTSTREAM_UNPACKED"
"""Environment variable of workers with archives: their working directory, where archives are unpacked."""

PACKAGES = "FLINTSTREAM_PACKAGES"
"""Environment variable of workers with their own packages: the packages' directory, next to the archives."""

UNPACKED_SUFFIXES = (".zip", ".jar", ".tar", ".tar.gz", ".tgz")
"""Spark unpacks archives by suffix."""

_shipped: set[tuple[str, str]] = set()
"""(Spark application, archive): an application accepts each archive only once."""


def with_dependencies(context: Any, configuration: Mapping[str, str]) -> Any:
    """Ship the program's dependencies; return a Spark context whose workers find them.

    Raises:
        FlintstreamError: pip cannot install the packages, or an archive is of an unknown kind.
        ExecutorError: The executors cannot run the job.
    """
    for path in newest_by_name(entries_of(configuration, PYTHON_FILES)):
        _ship_file(context, path)
    environment = {}
    archives = [entry.rpartition("#")[::2] for entry in entries_of(configuration, PYTHON_ARCHIVES)]
    for path, target in archives:
        _ship_archive(context, path, target)
    if archives:
        environment[UNPACKED] = ",".join(target for _, target in archives)
    if requirements := PYTHON_REQUIREMENTS.read(configuration):
        file, _, cache = requirements.partition("#")
        archive = install_requirements(file, cache)
        _ship_archive(context, str(archive), archive.stem)
        environment[PACKAGES] = archive.stem
    executable = PYTHON_EXECUTABLE.read(configuration) or context.pythonExec
    if environment or executable != context.pythonExec:
        located = _locate(executable, [target for _, target in archives], context)
        context = variant(context, environment={**context.environment, **environment}, pythonExec=located)
    return prepare_context(context)


def enter() -> None:
    """Set up this worker process with the shipped dependencies, permanently: Spark keeps such workers separate."""
    enter_unpacked(os.environ.get(UNPACKED), os.environ.get(PACKAGES))


def enter_unpacked(archives: str | None, packages: str | None) -> None:
    """Set up this worker process with what is unpacked in Spark's directory.

    Args:
        archives: the names of archives that relative paths have to find, if there are any.
        packages: the directory of packages, if there is one.
    """
    if not archives and not packages:
        return
    from pyspark import SparkFiles

    root = SparkFiles.getRootDirectory()
    if archives:
        os.chdir(root)
    if packages:
        path = os.path.join(root, packages)  # noqa: PTH118
        if path not in sys.path:
            sys.path.insert(0, path)


def entries_of(configuration: Mapping[str, str], option: Option[str | None]) -> list[str]:
    """Return the entries of an option, which commas separate."""
    return [entry for entry in (option.read(configuration) or "").split(",") if entry]


def newest_by_name(paths: Sequence[str]) -> list[str]:
    """Return paths without files that have the name of a later one: Spark keeps one file of each name.

    >>> newest_by_name(["/a/udfs.py", "/a/more.py", "/b/udfs.py"])
    ['/a/more.py', '/b/udfs.py']
    """
    last = {Path(path).name: path for path in paths}
    return [path for path in paths if last[Path(path).name] == path or Path(path).is_dir()]


def _ship_file(context: Any, path: str) -> None:
    given = Path(path)
    if given.is_dir():
        directory = Path(tempfile.mkdtemp(dir=shipping_directory()))
        target = directory / f"{given.name}-{directory.name}"  # Spark keeps one archive of each name
        context.addPyFile(shutil.make_archive(str(target), "zip", given))
    else:
        context.addPyFile(path)


def _ship_archive(context: Any, path: str, target: str) -> None:
    """Let Spark unpack an archive. It writes nothing outside the target.

    Raises:
        FlintstreamError: It is not an archive, or damaged, or has members or links that lead out of the target.
    """
    if (context.applicationId, target) in _shipped:
        return
    archive = unpackable(path)
    if Path(archive).is_file():  # otherwise it is a URI
        try_to_unpack(context, archive, path)
    context.addArchive(f"{archive}#{target}")
    _shipped.add((context.applicationId, target))


def unpackable(path: str) -> str:
    """Return an archive with a suffix by which Spark unpacks it: a copy if the given one has another.

    Raises:
        FlintstreamError: Spark cannot unpack it.
    """
    if path.lower().endswith(UNPACKED_SUFFIXES):
        return path
    if zipfile.is_zipfile(path):
        suffix = ".zip"
    elif tarfile.is_tarfile(path):
        with open(path, "rb") as file:  # noqa: PTH123
            compressed = file.read(2) == b"\x1f\x8b"
        suffix = ".tar.gz" if compressed else ".tar"
    else:
        raise FlintstreamError(f"{path} is neither a zip nor a tar archive, and no other kind can be unpacked")
    directory = Path(tempfile.mkdtemp(dir=shipping_directory()))
    return shutil.copyfile(path, directory / f"{Path(path).name}{suffix}").as_posix()


def install_requirements(file: str, cache: str) -> Path:
    """Install packages and return an archive of them; the same requirements are installed only once."""
    names = sorted(os.listdir(cache)) if cache else []  # noqa: PTH208
    digest = hashlib.sha256("\n".join([Path(file).read_text(encoding="utf-8"), *names]).encode()).hexdigest()[:12]
    directory = shipping_directory()  # its name is random: another user could prepare a known one
    archive = directory / f"packages-{digest}.zip"
    if archive.exists():
        return archive
    offline = ["--no-index", "--find-links", cache] if cache else []
    with tempfile.TemporaryDirectory(dir=directory) as target:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "-r", file, "--target", target, *offline]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the user requested it
        if done.returncode:
            raise FlintstreamError(
                f"set_python_requirements({file!r}): pip cannot install the requirements: {done.stderr.strip()}"
            )
        shutil.make_archive(str(archive.with_suffix("")), "zip", target)
    return archive


def _locate(executable: str, targets: list[str], context: Any) -> str:
    """Return the location of an interpreter, which may be in an archive."""
    if os.path.isabs(executable) or not any(executable.startswith(f"{target}/") for target in targets):  # noqa: PTH117
        return executable
    if has_executors(context.master):
        return f"./{executable}"  # in the executor's directory, where archives are unpacked
    from pyspark import SparkFiles

    return os.path.join(SparkFiles.getRootDirectory(), executable)  # noqa: PTH118
