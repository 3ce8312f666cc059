"""A standalone cluster whose workers share no directory with the driver, or with each other.

Each worker runs in a mount namespace of its own, in which the directories for temporary files are empty. Each
process of the cluster has an address of its own, so that neither Spark nor flintstream takes it for this machine.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from tests.faults.rounds import PYTHON, ROOT, Course
from tests.standalone import Standalone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HIDDEN = sorted({"/tmp", tempfile.gettempdir()})  # noqa: S108
NEEDED = [str(ROOT), sys.prefix, sys.base_prefix]
"""What the workers run: this checkout, and Python with its packages. A checkout may be in a hidden directory."""


def alone(hidden: Sequence[str], needed: Sequence[str]) -> list[str]:
    """Return the command that runs another one in a mount namespace of its own.

    Args:
        hidden: Directories that are empty there.
        needed: Directories that are there, even within hidden ones.
    """
    within = [path for path in needed if any(path == top or path.startswith(f"{top}/") for top in hidden)]
    opened = dict(enumerate(within, start=3))  # an open directory stays within reach when it is hidden
    lines = ["set -e", *(f"exec {number}<{quote(path)}" for number, path in opened.items())]
    lines += [f"mkdir -p {quote(path)}; mount -t tmpfs tmpfs {quote(path)}" for path in hidden]
    for number, path in opened.items():
        lines.append(f"mkdir -p {quote(path)}; mount -c --bind /proc/self/fd/{number} {quote(path)}; exec {number}<&-")
    return ["unshare", "--mount", "sh", "-c", "\n".join([*lines, "cd /", 'exec "$@"']), "sh"]


ALONE = alone(HIDDEN, NEEDED)


def refusal() -> str:
    """Return why this machine allows no mount namespaces; empty if it does."""
    try:
        done = subprocess.run([*ALONE, "true"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        return f"there is no unshare: {error}"
    return f"mount namespaces are not allowed: {done.stderr.strip()}" if done.returncode else ""


def apart(directory: Path) -> Standalone:
    """Start a cluster of two workers that share no directory."""
    hosts = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    return Standalone(directory, hosts=hosts, around=ALONE, environment=PYTHON)


@dataclass
class ApartCourse(Course):
    """A round whose only store is S3."""

    seconds = 1200

    bucket: str = ""
    """Its URI."""
    looked: float = 0.0
    found: Mapping[Path, int] | None = None

    def _new_cluster(self) -> Standalone:
        return apart(self.directory / "cluster")

    def _checkpoints(self) -> str:
        return f"{self.bucket}/checkpoints"

    def _output(self) -> str:
        return f"{self.bucket}/output"

    def _present(self) -> dict[Path, int]:
        if self.found is None or time.monotonic() - self.looked > 0.3:
            self.found = listed(self._output())
            self.looked = time.monotonic()
        return dict(self.found)

    def _text(self, path: Path) -> str:
        import s3fs

        return str(s3fs.S3FileSystem().cat_file(str(path)).decode())

    def _check(self) -> None:
        self.found = None
        self._look_at_files()
        super()._check()


def listed(uri: str) -> dict[Path, int]:
    """Return the visible files below a URI, with their sizes."""
    import s3fs

    system = s3fs.S3FileSystem()
    system.invalidate_cache()
    found = system.find(uri, detail=True)
    files = {name: info["size"] for name, info in found.items() if info["type"] == "file"}
    return {Path(name): size for name, size in files.items() if not Path(name).name.startswith((".", "_"))}
