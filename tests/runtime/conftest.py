"""Keeps pytest from importing what needs PyFlink."""

from __future__ import annotations

collect_ignore = ["record_windows.py"]
