"""Archives and packages of a program, which a Spark Connect server unpacks for the workers of a session."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flintstream.engine.spark.provision.dependencies import (
    enter_unpacked,
    entries_of,
    install_requirements,
    newest_by_name,
    unpackable,
)
from flintstream.errors import FlintstreamError
from flintstream.options.execution import PYTHON_ARCHIVES, PYTHON_FILES, PYTHON_REQUIREMENTS
from flintstream.runtime.process_setup import ProcessSetup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.engine.connect.session import ConnectSession
    from flintstream.runtime.logs import LogSetup

__all__ = ["WorkerSetup", "check_archive", "send_dependencies"]


class WorkerSetup(NamedTuple):
    """How a worker gets ready for the functions of a program: what it finds in the directory of its session, too."""

    process: ProcessSetup
    archives: str = ""
    """The names of the archives of the program."""
    packages: str = ""
    """The directory of its packages."""

    @property
    def logs(self) -> LogSetup:
        """How the driver logs."""
        return self.process.logs

    def enter(self) -> None:
        """Make this process find the archives, packages and modules of the program."""
        enter_unpacked(self.archives, self.packages)
        self.process.enter()


def send_dependencies(session: ConnectSession, configuration: Mapping[str, str]) -> WorkerSetup:
    """Send the files, archives and packages of a program, unless the session has them; return how workers use them.

    Raises:
        FlintstreamError: pip cannot install the packages, or an archive cannot be unpacked.
    """
    for path in newest_by_name(entries_of(configuration, PYTHON_FILES)):
        session.add_file(path)
    archives = [entry.rpartition("#")[::2] for entry in entries_of(configuration, PYTHON_ARCHIVES)]
    for path, target in archives:
        found = unpackable(path)
        check_archive(found, path)
        session.add_archive(found, target)
    packages = ""
    if requirements := PYTHON_REQUIREMENTS.read(configuration):
        file, _, cache = requirements.partition("#")
        archive = install_requirements(file, cache)
        packages = archive.stem
        session.add_archive(str(archive), packages)
    return WorkerSetup(ProcessSetup.here().with_main(), ",".join(target for _, target in archives), packages)


def check_archive(path: str, name: str) -> None:
    """Check that an archive can be read, and that it writes nothing outside its directory.

    A server registers an archive before it unpacks it. One that it cannot unpack fails all later tasks of the session.

    Raises:
        FlintstreamError: It cannot be unpacked. The message calls it ``name``.
    """
    try:
        if path.lower().endswith((".zip", ".jar")):
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    _check_inside(member)
        else:
            with tarfile.open(path) as archive_of_tar:
                for info in archive_of_tar:
                    _check_inside(info.name)
                    if info.issym():
                        _check_inside(f"{Path(info.name).parent}/{info.linkname}", link=info.linkname)
                    elif info.islnk():
                        _check_inside(info.linkname, link=info.linkname)
    except (OSError, EOFError, ValueError, tarfile.TarError, zipfile.BadZipFile) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise FlintstreamError(f"Spark cannot unpack {name}: {reason}") from None


def _check_inside(member: str, link: str = "") -> None:
    """Check that a name leads nowhere above its first directory; absolute names count from there, unlike links."""
    depth = 0
    for part in member.split("/"):
        depth += -1 if part == ".." else part not in {"", "."}
        if depth < 0 or link.startswith("/"):
            raise ValueError(f"{link or member} leads out of the directory of the archive")
