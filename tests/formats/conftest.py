"""Keeps pytest from importing what only PyFlink's environment can import."""

from __future__ import annotations

collect_ignore = ["oracle.py"]
