"""Write a release's savepoint, which every later one must restore: ``python -m tests.compat.record_savepoint 0.2.0``.

Run it once per release that changes the format, never to make a failing test pass: recorded savepoints stay.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from tests.savepoints.test_matrix import savepoint

SAVEPOINTS = Path(__file__).parent / "savepoints"

SETTINGS = {
    "execution.checkpointing.mode": "AT_LEAST_ONCE",  # nothing waits to be committed
    "execution.checkpointing.data-inline-threshold": "400 b",  # some state within the metadata, some in files
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the savepoint of a release.")
    parser.add_argument("release", help="its version; before the tag is set, the code does not know it")
    directory = SAVEPOINTS / parser.parse_args().release
    if directory.exists():
        raise SystemExit(f"{directory} is there already, and must not change")
    with tempfile.TemporaryDirectory() as place:
        path, output = savepoint(Path(place), "hashmap", 2, **SETTINGS)
        shutil.copytree(path, directory / "savepoint")
    (directory / "output.json").write_text(json.dumps(output, indent=1) + "\n")
    print(directory)


if __name__ == "__main__":
    main()
