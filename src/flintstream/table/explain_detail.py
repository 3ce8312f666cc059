"""Details of ``explain()``; mirrors ``pyflink.table.explain_detail``."""

from __future__ import annotations

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """What ``explain()`` can add in PyFlink. It has no effect: the plans of flintstream have no costs."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
