"""Methods of the environment that ship Python code, packages and files to the workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.options.execution import PYTHON_ARCHIVES, PYTHON_EXECUTABLE, PYTHON_FILES, PYTHON_REQUIREMENTS
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration
    from flintstream.options.option import Option

_ARCHIVE_SUFFIXES = (".zip", ".jar", ".whl", ".egg", ".tar", ".tar.gz", ".tgz")


class PythonDependencies:
    """The methods of an environment for Python dependencies. Every setting is a key of its configuration.

    The keys are Flink's: ``python.files`` and ``python.archives`` (separated by commas; ``archive#directory``),
    ``python.requirements`` (``file#directory of packages``) and ``python.executable``.
    """

    _configuration: Configuration

    def add_python_file(self, file_path: str) -> None:
        """Ship a Python file, package directory or zip to the workers and put it on their module path.

        If several files have a module of one name, that of the newest one counts.

        Raises:
            FileNotFoundError: The file does not exist.

        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> with TemporaryDirectory() as directory:
        ...     env.add_python_file(directory)
        """
        path = _existing(file_path, "add_python_file")
        older = {_module_path(entry) for entry in self._entries(PYTHON_FILES)}
        self._append(PYTHON_FILES, path)
        entry = _module_path(path)
        if entry in older and entry in sys.path:
            sys.path.remove(entry)
        if entry not in sys.path:
            places = (i for i, known in enumerate(sys.path) if known in older)
            sys.path.insert(next(places, len(sys.path)), entry)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Ship an archive to the workers and unpack it in their working directory, where relative paths find it.

        Args:
            archive_path: zip, jar, whl, egg, tar, tar.gz or tgz, such as what venv-pack and conda-pack write.
            target_dir: the directory to unpack it in; by default one with the name of the archive.

        Raises:
            FileNotFoundError: The file does not exist.
            ValueError: The archive has an unsupported type, or another archive uses the same directory.

        >>> from tempfile import TemporaryDirectory
        >>> import zipfile
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> with TemporaryDirectory() as directory:
        ...     with zipfile.ZipFile(f"{directory}/model.zip", "w") as archive:
        ...         archive.writestr("weights.txt", "0.5 0.25")
        ...     env.add_python_archive(f"{directory}/model.zip", "model")
        """
        path = _existing(archive_path, "add_python_archive")
        if not path.endswith(_ARCHIVE_SUFFIXES):
            suffixes = ", ".join(_ARCHIVE_SUFFIXES)
            raise ValueError(f"add_python_archive({archive_path!r}): the archive must be one of {suffixes}")
        target = target_dir or Path(path).name
        if not target.strip("/") or ".." in target.split("/") or any(mark in target for mark in "#,"):
            raise ValueError(f"add_python_archive({archive_path!r}): {target!r} is not a valid directory name")
        taken = {entry.rpartition("#")[2] for entry in self._entries(PYTHON_ARCHIVES)}
        if target in taken:
            raise ValueError(f"add_python_archive({archive_path!r}): another archive is already unpacked in {target!r}")
        self._append(PYTHON_ARCHIVES, f"{path}#{target}")

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Install packages with pip, once, on the driver, and ship them to the workers.

        Args:
            requirements_file_path: a requirements file of pip.
            requirements_cache_dir: a directory with the packages, so that pip need not reach an index.

        Raises:
            FileNotFoundError: The file or directory does not exist.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> with TemporaryDirectory() as directory:
        ...     _ = Path(directory, "requirements.txt").write_text("numpy>=2")
        ...     env.set_python_requirements(f"{directory}/requirements.txt")
        """
        parts = [_existing(requirements_file_path, "set_python_requirements")]
        if requirements_cache_dir is not None:
            parts.append(_existing(requirements_cache_dir, "set_python_requirements"))
        self._configuration.set_string(PYTHON_REQUIREMENTS.key, "#".join(parts))

    def set_python_executable(self, python_exec: str) -> None:
        """Set the interpreter of the workers; by default the interpreter of the program.

        Args:
            python_exec: a path, absolute or relative to the workers' directory, such as ``venv/bin/python`` if an
                archive is unpacked in ``venv``. It must have the program's Python version.

        >>> import sys
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().set_python_executable(sys.executable)
        """
        if not isinstance(python_exec, str) or not python_exec:
            raise TypeError(f"set_python_executable() needs a path, but got {python_exec!r}")
        self._configuration.set_string(PYTHON_EXECUTABLE.key, python_exec)

    def _entries(self, option: Option[str | None]) -> list[str]:
        return [entry for entry in (self._configuration.get(option) or "").split(",") if entry]

    def _append(self, option: Option[str | None], entry: str) -> None:
        if "," in entry:
            raise ValueError(f"{entry!r}: paths must not contain a comma, which separates paths in '{option.key}'")
        self._configuration.set_string(option.key, ",".join([*self._entries(option), entry]))


def _module_path(path: str) -> str:
    """Return the entry of the module path for a file, directory or zip."""
    return path if os.path.isdir(path) or path.endswith((".zip", ".egg")) else os.path.dirname(path)  # noqa: PTH112, PTH120


def _existing(path: str, method: str) -> str:
    local = Location.parse(path).path if path.startswith("file:") else path
    absolute = os.path.abspath(local)  # noqa: PTH100 - keeps a trailing component of a directory
    if not os.path.exists(absolute):  # noqa: PTH110
        raise FileNotFoundError(f"{method}({path!r}): no such file or directory")
    return absolute
