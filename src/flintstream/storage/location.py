"""Parsing of paths and URIs, shared by options, commands, sources, sinks and checkpoints."""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass

from flintstream.common._text.secrets import without_secrets
from flintstream.errors import PlanError

__all__ = ["Location", "names_scheme"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?=:)")  # at least two letters, since C: is a drive
_SLASHES = re.compile("/+")
_ENDING = re.compile(r"[\s/]+\Z")
_PASSWORD = re.compile(r"(?:^|::)[A-Za-z][\w+.-]*://[^/?:@]*:[^/?]*@")
_THIS_MACHINE = frozenset({"", "localhost"})
_LITERAL = frozenset({"http", "https"})
"""Schemes whose paths are kept verbatim: '//' is significant, and '..' may be part of a query."""


def names_scheme(text: str) -> bool:
    """Tell whether ``text`` is a URI rather than a path.

    >>> names_scheme("s3://bucket/x"), names_scheme("FILE:/x"), names_scheme("data/x"), names_scheme("C:/x")
    (True, True, False, False)
    """
    return _SCHEME.match(text.strip()) is not None


@dataclass(frozen=True)
class Location:
    """A file or directory on this machine, mounted file systems included, or on a file system that fsspec supports.

    ``str()`` returns an absolute path for the first kind and a URI for the second. Parsing that text returns an equal
    location, in any directory and any process.

    >>> str(Location.parse("FILE:///data//in/")), str(Location.parse("S3://Bucket/in/../out"))
    ('/data/in', 's3://Bucket/out')
    """

    scheme: str
    """The scheme in lower case; ``file`` for this machine."""
    authority: str | None
    """The bucket or host, such as ``name:8020``; empty if absent, None if only fsspec can read the rest of the URI."""
    path: str
    """The path, with a leading slash and no empty, ``.`` or ``..`` parts; empty for the top of a bucket."""

    @classmethod
    def parse(cls, given: str | os.PathLike[str], what: str = "the path") -> Location:
        """Parse a path or URI as PyFlink does.

        A relative path starts in the current directory. ``~`` and ``%20`` are taken literally. Blanks around a URI are
        ignored. Parsing accesses no file system and needs no client.

        Args:
            given: A path, ``file:/path``, ``file:///path``, ``file://localhost/path``, or another URI.
            what: The subject of error messages, such as an option name in quotes.

        Raises:
            TypeError: ``given`` is neither a str nor a path object.
            PlanError: ``given`` is empty, is not valid text, names a host for a local file, contains a password, or has
                a scheme but no absolute path.

        >>> Location.parse("s3://bucket/in")
        Location(scheme='s3', authority='bucket', path='/in')
        >>> Location.parse("file://data/in", "'flintstream.state.dir'")
        Traceback (most recent call last):
        flintstream.errors.PlanError: 'flintstream.state.dir' must not name a host, got 'file://data/in'; write
        'file:///data/in' for a path of this machine
        """
        text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
        if not isinstance(text, str):
            raise TypeError(f"{what} must be a str or a path object, not {given!r}")
        if not text.strip():
            raise PlanError(f"{what} is empty")
        shown = without_secrets(text)
        if "\0" in text:
            raise PlanError(f"{what} must not contain a null character, got {shown!r}")
        if not _is_text(text):
            raise PlanError(f"{what} is not valid text, got {shown!r}: it has half of a surrogate pair")
        if not names_scheme(text):
            # not stripped: a file name may end with a blank
            return cls("file", "", _normal(os.path.join(os.getcwd(), text)))  # noqa: PTH109, PTH118 - keeps blanks
        text = text.strip()
        scheme, _, rest = text.partition(":")
        scheme = scheme.lower()
        if _PASSWORD.search(text):  # paths are in errors, logs and checkpoints
            raise PlanError(
                f"{what} must not contain a password, got '{shown}'; put it into the configuration of "
                "the file system's client"
            )
        if "::" in text and scheme != "file":
            return cls(scheme, None, _ENDING.sub("", rest))
        authority, path = "", rest
        if rest.startswith("//"):
            authority, slash, below = rest[2:].partition("/")
            authority, path = authority.strip(), slash + below
        is_top = rest.startswith("//") and not path and scheme != "file"
        if not path.startswith("/") and not is_top:
            correct = without_secrets(f"{scheme}:///{path or authority}")
            raise PlanError(f"{what} must be an absolute path, got {shown!r}; write '{correct}'")
        if scheme == "file":
            if authority.lower() not in _THIS_MACHINE:
                raise PlanError(
                    f"{what} must not name a host, got {text!r}; write 'file:///{authority}{path}' for a path of this "
                    "machine"
                )
            return cls(scheme, "", _ENDING.sub("", _normal(path)) or "/")
        return cls(scheme, authority, _ENDING.sub("", path if scheme in _LITERAL else _normal(path)))

    @property
    def is_local(self) -> bool:
        """Whether the location is on this machine or mounted there."""
        return self.scheme == "file"

    @property
    def uri(self) -> str:
        """The URI; a local path becomes ``file:///data``. Blanks and percent signs are not escaped."""
        return (
            f"{self.scheme}:{self.path}" if self.authority is None else f"{self.scheme}://{self.authority}{self.path}"
        )

    @property
    def flink_text(self) -> str:
        """The URI as Flink shows it: ``file:/data``, ``hdfs:/data``, ``s3://bucket/data``."""
        return self.uri if self.authority or self.authority is None else f"{self.scheme}:{self.path}"

    @property
    def is_root(self) -> bool:
        """Whether the location is the top of a file system or bucket."""
        return self.path in {"", "/"}

    def local_path(self, what: str = "the path") -> str:
        """Return the path on this machine.

        Raises:
            PlanError: The location is on another file system.

        >>> Location.parse("file:/data/state").local_path()
        '/data/state'
        >>> Location.parse("s3://bucket/state").local_path("'flintstream.state.dir'")
        Traceback (most recent call last):
        flintstream.errors.PlanError: 'flintstream.state.dir' must be on this machine or mounted there, got
        's3://bucket/state'
        """
        if not self.is_local:
            raise PlanError(f"{what} must be on this machine or mounted there, got '{without_secrets(str(self))}'")
        return self.path

    def __str__(self) -> str:
        return self.path if self.is_local else self.uri


def _is_text(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _normal(path: str) -> str:
    return posixpath.normpath(_SLASHES.sub("/", path)) if path else ""
