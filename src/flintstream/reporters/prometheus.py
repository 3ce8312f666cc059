"""An endpoint for Prometheus with the metrics of all jobs of this process."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.coordinator.monitoring.measured import families
from flintstream.errors import PlanError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.coordinator.client import RunningJob

_endpoints: dict[tuple[int, str, int], Endpoint] = {}
"""(Process, host, port) -> the endpoint there."""


def endpoint_at(host: str, port: int) -> Endpoint:
    """Return the endpoint of this process at an address, and open it if needed.

    Raises:
        PlanError: The address cannot be used, or prometheus_client is missing.
    """
    place = (os.getpid(), host, port)
    if place not in _endpoints:
        _endpoints[place] = Endpoint(host, port)
    return _endpoints[place]


class Endpoint:
    """Serves the metrics of jobs at ``/metrics``, until the process ends."""

    def __init__(self, host: str, port: int) -> None:
        """Open the port; 0 chooses a free one."""
        client = _library()
        self._jobs: list[RunningJob] = []
        self._lock = threading.Lock()
        registry = client.CollectorRegistry(auto_describe=False)
        registry.register(self)
        try:
            self._server, self._thread = client.start_http_server(port, host, registry)
        except OSError as error:
            raise PlanError(f"cannot open {host}:{port} for Prometheus: {error.strerror or error}") from error
        self.port: int = self._server.server_port

    def show(self, job: RunningJob) -> Callable[[], None]:
        """Show the metrics of a job until the returned function is called."""
        with self._lock:
            self._jobs.append(job)
        return partial(self._forget, job)

    def _forget(self, job: RunningJob) -> None:
        with self._lock:
            self._jobs.remove(job)

    def close(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for place, endpoint in list(_endpoints.items()):
            if endpoint is self:
                del _endpoints[place]

    def collect(self) -> Iterator[Any]:
        """Return all metrics, in the classes of prometheus_client, which calls this for each request."""
        metric_class = _library().Metric
        merged: dict[str, Any] = {}
        with self._lock:
            jobs = tuple(self._jobs)
        for job in jobs:
            for family in families(job):
                metric = merged.get(family.name)
                if metric is None:
                    metric = merged[family.name] = metric_class(family.name, family.help, family.type)
                for sample in family.samples:
                    metric.add_sample(family.name + sample.suffix, dict(sample.labels), sample.value)
        yield from merged.values()


def _library() -> Any:
    return optional_module(
        "prometheus_client", package="prometheus-client", extra="metrics", purpose="the endpoint for Prometheus"
    )
