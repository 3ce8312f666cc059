"""Dialects of SQL; mirrors ``pyflink.table.sql_dialect``."""

from __future__ import annotations

__all__ = ["SqlDialect"]


class SqlDialect:
    """Dialects of SQL; there is only Flink's."""

    DEFAULT = 0
    HIVE = 1
