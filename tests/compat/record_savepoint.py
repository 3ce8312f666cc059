"""Writes the savepoint of this release that every later one must restore: ``python -m tests.compat.record_savepoint``.

To be run once per release that changes the format, never to make a failing test pass: what is recorded stays.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from tests.savepoints.test_matrix import savepoint

from flintstream import __version__

SAVEPOINTS = Path(__file__).parent / "savepoints"

SETTINGS = {
    "execution.checkpointing.mode": "AT_LEAST_ONCE",  # nothing waits to be committed
    "execution.checkpointing.data-inline-threshold": "400 b",  # some state within the metadata, some in files
}


def main() -> None:
    directory = SAVEPOINTS / __version__
    if directory.exists():
        raise SystemExit(f"{directory} is there already, and must not change")
    with tempfile.TemporaryDirectory() as place:
        path, output = savepoint(Path(place), "hashmap", 2, **SETTINGS)
        shutil.copytree(path, directory / "savepoint")
    (directory / "output.json").write_text(json.dumps(output, indent=1) + "\n")
    print(directory)


if __name__ == "__main__":
    main()
