"""Opening of regular files only: reading a named pipe would wait for a writer, and reading some devices has effects."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import FileIO

__all__ = ["check_regular", "open_regular"]

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


def check_regular(path: str | os.PathLike[str], mode: int) -> None:
    """Check that a path with these bits of ``st_mode`` is a regular file.

    Raises:
        OSError: It is something else.
    """
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "not a file")
        raise OSError(f"cannot read {os.fspath(path)}: it is {kind}, and only regular files can be read")


def open_regular(path: str | os.PathLike[str]) -> FileIO:
    """Open a local file for reading, without a buffer; the caller closes it.

    The check is made on what was opened, so that nothing else can take the place of the file in between.

    Raises:
        OSError: The file cannot be read, or is not a regular file.
    """
    return open(path, "rb", buffering=0, opener=_open)


def _open(path: str, flags: int) -> int:
    try:
        number = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)  # a pipe must not wait for a writer
    except OSError:
        check_regular(path, os.stat(path).st_mode)  # noqa: PTH116 - a socket cannot be opened
        raise
    try:
        check_regular(path, os.fstat(number).st_mode)
    except BaseException:
        os.close(number)
        raise
    return number
