"""Keep pytest from importing modules that need PyFlink."""

from __future__ import annotations

collect_ignore = ["record_windows.py"]
