"""Archives of flintstream and of the program's own modules, for executors on other machines.

Python finds them through ``PYTHONPATH``, which our tasks get on top of their environment. So workers find them from
their start, and other Spark jobs of the same session do not notice.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import logging
import marshal
import os
import re
import site
import sys
import sysconfig
import zipfile
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.compiled import PURE_PYTHON
from flintstream.storage.temporary import temporary_directory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from importlib.abc import Traversable

__all__ = ["SUFFIX", "compiled_modules", "own_modules", "package_archive", "program_archive", "shipping_directory"]

_log = logging.getLogger(__name__)

LARGEST_PROGRAM = 64 << 20
"""The most bytes of modules that are sent unasked: a directory of data beside the program is none of its modules."""

SUFFIX = str(sysconfig.get_config_var("EXT_SUFFIX"))
"""The end of the names of compiled modules that this Python makes, with its version, processor and operating system."""

_SENT_SEPARATELY = {"__main__", "flintstream", "py4j", "pyspark"}
_INSTALLED = {"site-packages", "dist-packages", "lib-dynload"}
_SKIPPED = {"__pycache__", "node_modules"}
_UNCHECKED = (1).to_bytes(4, "little")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)|import[ \t]+([^\n#;]+))", re.MULTILINE)
_directories: list[str] = []


# -- the program's own modules ----------------------------------------------------------------------------------------


def own_modules() -> dict[str, Path]:
    """Return the files and directories of the top-level modules that belong to the program and not to an installation.

    These are modules in directories of the module search path in which no packages are installed, such as that of the
    script: those that are imported already, and those that the script or one of them names in an import statement.
    """
    roots = list(_own_directories())
    found: dict[str, Path] = {}
    names = {name.partition(".")[0] for name in list(sys.modules)}
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script and str(script).endswith(".py") and Path(script).is_file():
        names |= _find_imports(Path(script))
    waiting = list(names - _SENT_SEPARATELY)
    while waiting:
        name = waiting.pop()
        if name in found or name in sys.stdlib_module_names or (path := _path_of(name, roots)) is None:
            continue
        found[name] = path
        for source in _members(path):
            waiting += _find_imports(source) if source.suffix == ".py" else ()
    return found


def _own_directories() -> Iterator[Path]:
    """Yield the directories of the module search path in which no packages are installed."""
    paths = sysconfig.get_paths()
    installed = {Path(paths[name]).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    installed |= {Path(entry).resolve() for entry in (*site.getsitepackages(), site.getusersitepackages())}
    for entry in sys.path:
        path = Path(entry).resolve()
        if path.is_dir() and path not in installed and not _INSTALLED.intersection(path.parts):
            yield path


def _path_of(name: str, roots: Collection[Path]) -> Path | None:
    """Return the file or directory of a top-level module if it is in one of the directories."""
    spec = getattr(sys.modules.get(name), "__spec__", None) or PathFinder.find_spec(name)
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ()) or ([spec.origin] if spec.has_location else [])
    for place in places:
        path = Path(str(place)).resolve()
        if path.parent in roots and path.exists() and path.name.partition(".")[0] == name:
            return path
    return None


def _find_imports(source: Path) -> set[str]:
    """Return the top-level names in the import statements of a file, and perhaps others."""
    found = set()
    for match in _IMPORT.finditer(source.read_text(encoding="utf-8", errors="replace")):
        found |= {name.strip().partition(".")[0].partition(" ")[0] for name in (match[1] or match[2]).split(",")}
    return found - _SENT_SEPARATELY


def _members(path: Path) -> Iterator[Path]:
    """Yield the files of a module."""
    if path.is_file():
        yield path
    for directory, names, members in os.walk(path):
        names[:] = sorted(name for name in names if name not in _SKIPPED and not name.startswith("."))
        yield from (Path(directory, name) for name in sorted(members) if not name.endswith(".pyc"))


def program_archive() -> Path | None:
    """Return a zip archive of the program's own modules, the same one for the same contents; None if it has none."""
    contents: dict[str, bytes] = {}
    total = 0
    for name, path in sorted(own_modules().items()):
        for member in _members(path):
            total += member.stat().st_size
            if total > LARGEST_PROGRAM:
                _log.warning(
                    "the modules of the program are not sent to the executors: with '%s', they have more than %d MB; "
                    "send what the tasks need with --pyFiles", name, LARGEST_PROGRAM >> 20,
                )  # fmt: skip
                return None
            contents[member.relative_to(path.parent).as_posix()] = member.read_bytes()
    return _archive("flintstream-program", contents) if contents else None


# -- packages of the driver -------------------------------------------------------------------------------------------


def package_archive(packages: dict[str, str]) -> Path:
    """Return a zip archive with packages of this process, given with their versions.

    Executors have to unpack it, because Python loads no compiled module from an archive. Where one does not load, both
    flintstream and msgpack run in pure Python. The archive also has the bytecode of this Python, which saves each
    executor the compilation.
    """
    contents: dict[str, bytes] = {}
    for package, version in packages.items():
        for name, file in _files(package, files(package)):
            data = file.read_bytes()
            contents[name] = data
            if name.endswith(".py") and isinstance(file, Path):
                directory, _, module = name.removesuffix(".py").rpartition("/")
                cached = f"{directory}/__pycache__/{module}.{sys.implementation.cache_tag}.pyc"
                contents[cached] = _bytecode(name, file, data)
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        contents[f"{package}-{version}.dist-info/METADATA"] = metadata.encode()
    return _archive("flintstream-packages", contents)


def compiled_modules(packages: Iterable[str]) -> list[str]:
    """Return the names of the compiled modules that are sent with packages."""
    names = (name for package in packages for name, _ in _files(package, files(package)))
    return [name.removesuffix(SUFFIX).replace("/", ".") for name in names if name.endswith(SUFFIX)]


def _files(prefix: str, directory: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Yield the files of a package that are sent, with their names in the archive."""
    compiled = () if os.environ.get(PURE_PYTHON) else SUFFIX
    for entry in sorted(directory.iterdir(), key=lambda entry: entry.name):
        name = f"{prefix}/{entry.name}"
        if entry.is_dir():
            if entry.name not in _SKIPPED:
                yield from _files(name, entry)
        elif entry.name.endswith(compiled) or not entry.name.endswith((".so", ".pyd", ".pyc", ".pyx", ".pxi", ".pxd")):
            yield name, entry


def _bytecode(name: str, file: Path, source: bytes) -> bytes:
    module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    code = SourceFileLoader(module, str(file)).get_code(module)
    checked = importlib.util.source_hash(source)
    return b"".join([importlib.util.MAGIC_NUMBER, _UNCHECKED, checked, marshal.dumps(code)])


def _archive(prefix: str, contents: dict[str, bytes]) -> Path:
    """Write a zip archive whose name and bytes depend on nothing but its contents."""
    buffer = io.BytesIO()
    digest = hashlib.sha256()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(contents.items()):
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
    path = shipping_directory() / f"{prefix}-{digest.hexdigest()[:12]}.zip"
    if not path.exists():
        path.write_bytes(buffer.getvalue())
    return path


def shipping_directory() -> Path:
    """Return a directory of this process for files on their way to executors. No other user can enter it."""
    if not _directories:
        _directories.append(temporary_directory("flintstream-shipped-"))
    return Path(_directories[0])
