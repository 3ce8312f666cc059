"""Keep pytest from importing programs that need PyFlink as tests."""

from __future__ import annotations

collect_ignore = ["handed_out.py"]
