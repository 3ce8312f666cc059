"""``python -m benchmarks``: all of them."""

from __future__ import annotations

from benchmarks.keyed_count import main

main()
