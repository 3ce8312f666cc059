"""A standalone cluster whose workers share no directory with the driver, or with each other.

Each worker runs in a mount namespace of its own, in which the directories for temporary files are empty. Each
process of the cluster has an address of its own, so that neither Spark nor flintstream takes it for this machine.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.rounds import PYTHON, Course
from tests.standalone import Standalone

if TYPE_CHECKING:
    from collections.abc import Mapping

HIDDEN = sorted({"/tmp", tempfile.gettempdir()})  # noqa: S108
_HIDE = f"for each in {' '.join(HIDDEN)}; do mkdir -p $each; mount -t tmpfs tmpfs $each || exit; done; cd /"
ALONE = ["unshare", "--mount", "sh", "-c", f'{_HIDE}; exec "$@"', "sh"]
"""The command that runs another one in a mount namespace of its own."""


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
