"""Make `tests.conformance` importable, and keep pytest from importing the programs as if they were tests."""

from __future__ import annotations

import sys
from pathlib import Path

collect_ignore_glob = ["programs/*", "errors/*", "scripts/*", "races.py"]

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
