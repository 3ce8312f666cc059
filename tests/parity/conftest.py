"""Keeps pytest from importing, as if they were tests, programs that need PyFlink."""

from __future__ import annotations

collect_ignore = ["handed_out.py"]
