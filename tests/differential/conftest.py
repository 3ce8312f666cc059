"""Keeps pytest from importing what needs PyFlink, or stands for it."""

from __future__ import annotations

collect_ignore = ["build.py", "functions.py", "keyed_functions.py", "oracle.py"]
