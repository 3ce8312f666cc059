"""Nexmark, the benchmark of queries over an online auction, on flintstream and on PyFlink: see ``docs/nexmark.md``."""
