"""Reporters show the metrics of the jobs of this process to monitoring systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.options.metrics import (
    OTLP_ENDPOINT,
    PROMETHEUS_HOST,
    PROMETHEUS_PORT,
    PROMETHEUS_TOKEN_FILE,
    REPORT_INTERVAL,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.coordinator.client import RunningJob

__all__ = ["reporting"]


def reporting(settings: Mapping[str, object]) -> list[Callable[[RunningJob], Callable[[], None]]]:
    """Return the reporters that the configuration names. Each takes a job, and returns a function that ends it.

    Raises:
        PlanError: A package is missing, or the port is taken.
    """
    chosen: list[Callable[[RunningJob], Callable[[], None]]] = []
    port, endpoint = PROMETHEUS_PORT.read(settings), OTLP_ENDPOINT.read(settings)
    if port is not None:
        from flintstream.reporters.prometheus import endpoint_at

        host, token_file = PROMETHEUS_HOST.read(settings), PROMETHEUS_TOKEN_FILE.read(settings)
        chosen.append(endpoint_at(host, port, token_file).show)
    if endpoint is not None:
        from flintstream.reporters.otlp import Otlp

        chosen.append(Otlp(endpoint, REPORT_INTERVAL.read(settings)).show)
    return chosen
