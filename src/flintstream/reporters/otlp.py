"""Sends the metrics of a job by OTLP over HTTP, the protocol of OpenTelemetry."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import flintstream
from flintstream.coordinator.monitoring.measured import families
from flintstream.errors import optional_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.coordinator.client import RunningJob

TIMEOUT_SECONDS = 5
"""Longest time for a request. The end of a job waits for the last one."""

_log = logging.getLogger(__name__)


class Otlp:
    """Sends metrics at an interval, and once more when a job has ended."""

    def __init__(self, endpoint: str, interval_ms: int) -> None:
        """Send to ``endpoint``, such as ``http://localhost:4318/v1/metrics``."""
        self._sdk = _library("opentelemetry.sdk.metrics.export", "opentelemetry-sdk")
        self._resources = _library("opentelemetry.sdk.resources", "opentelemetry-sdk")
        self._scopes = _library("opentelemetry.sdk.util.instrumentation", "opentelemetry-sdk")
        http = _library(
            "opentelemetry.exporter.otlp.proto.http.metric_exporter", "opentelemetry-exporter-otlp-proto-http"
        )
        session = None
        if not any(key.startswith("OTEL_") and key.endswith("_CREDENTIAL_PROVIDER") for key in os.environ):
            session = _library("flintstream.reporters.short_answers", "requests").session(TIMEOUT_SECONDS)
        self._exporter = http.OTLPMetricExporter(endpoint, timeout=TIMEOUT_SECONDS, session=session)
        self._seconds = interval_ms / 1000

    def show(self, job: RunningJob) -> Callable[[], None]:
        """Send the metrics of a job until the returned function is called."""
        over = threading.Event()
        began = time.time_ns()

        def send() -> None:
            while not over.wait(self._seconds):
                self._send(job, began)

        thread = threading.Thread(target=send, name="flintstream-otlp", daemon=True)
        thread.start()

        def end() -> None:
            over.set()
            thread.join(TIMEOUT_SECONDS)
            self._send(job, began)
            self._exporter.shutdown()

        return end

    def _send(self, job: RunningJob, began_ns: int) -> None:
        try:
            self._exporter.export(self._data(job, began_ns))  # it logs why a request failed
        except Exception as error:  # noqa: BLE001 - a monitoring system that is away does not disturb the job
            _log.warning("cannot send metrics: %s", error)

    def _data(self, job: RunningJob, began_ns: int) -> Any:
        """Return all metrics as gauges. The SDK has no summaries, so a quantile is an attribute."""
        sdk, now = self._sdk, time.time_ns()
        metrics = []
        for family in families(job):
            by_suffix: dict[str, list[object]] = {}
            for sample in family.samples:
                point = sdk.NumberDataPoint(dict(sample.labels), began_ns, now, sample.value)
                by_suffix.setdefault(sample.suffix, []).append(point)
            for suffix, points in by_suffix.items():
                metrics.append(sdk.Metric(family.dotted + suffix, family.help, "", sdk.Gauge(points)))
        resource = self._resources.Resource({"service.name": "flintstream", "service.version": flintstream.__version__})
        scope = self._scopes.InstrumentationScope("flintstream", flintstream.__version__)
        inner = sdk.ScopeMetrics(scope, metrics, "")
        return sdk.MetricsData([sdk.ResourceMetrics(resource, [inner], "")])


def _library(name: str, package: str) -> Any:
    return optional_module(name, package=package, extra="metrics", purpose="sending metrics by OTLP")
