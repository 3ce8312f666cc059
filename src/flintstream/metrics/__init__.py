"""Metrics of user functions. Mirrors ``pyflink.metrics``."""

from __future__ import annotations

from flintstream.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
