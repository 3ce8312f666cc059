"""Connectors, compared with PyFlink's: ``python -m benchmarks.connectors``."""
