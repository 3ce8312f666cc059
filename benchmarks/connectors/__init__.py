"""Connectors beside PyFlink's: ``python -m benchmarks.connectors``."""
