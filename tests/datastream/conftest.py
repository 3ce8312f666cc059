"""What pytest does not collect."""

from __future__ import annotations

collect_ignore = ["window_matrix.py"]  # runs where PyFlink is
