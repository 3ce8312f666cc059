"""Keep pytest from importing modules that only PyFlink's environment can import."""

from __future__ import annotations

collect_ignore = ["oracle.py"]
