from __future__ import annotations

collect_ignore = ["oracle.py"]  # runs where PyFlink is
