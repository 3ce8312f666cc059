"""Keep pytest from importing the programs as if they were tests."""

from __future__ import annotations

collect_ignore_glob = ["programs/*"]
