"""Details of ``explain()``; mirrors ``pyflink.table.explain_detail``."""

from __future__ import annotations

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """What ``explain()`` can add in PyFlink. It has no effect: the plans of flintstream have no costs.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> "1" in t_env.sql_query("SELECT 1 AS n").explain(ExplainDetail.ESTIMATED_COST)
    True
    """

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
