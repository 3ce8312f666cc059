"""``python -m tests.documentation [PAGE]``: follow a tutorial from its first line on, in a new environment."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.documentation.following import Command, Reader, steps

ROOT = Path(__file__).parents[2]


def main(page: str = "first-job") -> None:
    """Follow the page; ``pip install`` installs this checkout for ``CLONE``, with the pinned versions."""
    with tempfile.TemporaryDirectory() as directory:
        reader = Reader(Path(directory), {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"})
        try:
            path = ROOT / "docs" / "tutorials" / f"{page}.md"
            for step in steps(path):
                if isinstance(step, Command):
                    step.line = step.line.replace("'CLONE[java]'", f"'{ROOT}[java]' -c {ROOT}/constraints.txt")
                    print("$", step.line)
                    reader.do(step)
                    if step.line.startswith("mkdir"):
                        reader.directory /= step.line.split()[-1]
                else:
                    reader.write(step)
        finally:
            reader.leave()
    print("all as the page says")


if __name__ == "__main__":
    main(*sys.argv[1:])
