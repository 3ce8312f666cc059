"""Dialects of SQL; mirrors ``pyflink.table.sql_dialect``."""

from __future__ import annotations

__all__ = ["SqlDialect"]


class SqlDialect:
    """Dialects of SQL; there is only Flink's.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> SqlDialect.DEFAULT == TableEnvironment.create(
    ...     EnvironmentSettings.in_streaming_mode()
    ... ).get_config().get_sql_dialect()
    True
    """

    DEFAULT = 0
    HIVE = 1
