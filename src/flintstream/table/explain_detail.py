"""Details of ``explain()``; mirrors ``pyflink.table.explain_detail``."""

from __future__ import annotations

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """What ``explain()`` adds: the kinds of changes of each step, advice, and the steps of the job in JSON.

    ESTIMATED_COST adds nothing, because flintstream does not estimate costs. PLAN_ADVICE recommends mini-batches for a
    group that would gain by them. As in Flink, it is an error in BATCH mode, where plans have no kinds of changes.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> plan = t_env.sql_query("SELECT 1 AS n").explain(ExplainDetail.CHANGELOG_MODE)
    >>> plan.split("== Optimized Physical Plan ==")[1].split()[0:3]
    ['Calc(select=[1', 'AS', 'n],']
    >>> "changelogMode=[I]" in plan
    True
    """

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
