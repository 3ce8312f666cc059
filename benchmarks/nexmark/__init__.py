"""Nexmark, a benchmark of queries over an online auction, here and on PyFlink: see ``docs/explanation/nexmark.md``."""
