"""The arguments of all runners."""

from __future__ import annotations

import argparse

SPREAD = 2_654_435_761
"""Odd and no multiple of 5: times this, modulo a power of ten, consecutive numbers visit all keys equally often."""


def read(**more: str) -> argparse.Namespace:
    """Return the arguments; ``more`` are further text options and their defaults."""
    parser = argparse.ArgumentParser()
    for name in ("records", "keys", "every"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--output", required=True)
    for name, default in more.items():
        parser.add_argument(f"--{name}", default=default)
    return parser.parse_args()
