"""An endpoint for Prometheus with the metrics of all jobs of this process."""

from __future__ import annotations

import hmac
import os
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.coordinator.monitoring.measured import families
from flintstream.errors import PlanError, optional_module
from flintstream.options.metrics import PROMETHEUS_TOKEN_FILE
from flintstream.reporters.limited_server import LimitedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from flintstream.coordinator.client import RunningJob

_endpoints: dict[tuple[int, str, int, str | None], Endpoint] = {}
"""(Process, host, port, file of the token) -> the endpoint there."""


def endpoint_at(host: str, port: int, token_file: str | None = None) -> Endpoint:
    """Return the endpoint of this process at an address, and open it if needed.

    Raises:
        PlanError: The address or the file cannot be used, or prometheus_client is missing.
    """
    place = (os.getpid(), host, port, token_file)
    if place not in _endpoints:
        _endpoints[place] = Endpoint(host, port, token_file)
    return _endpoints[place]


class Endpoint:
    """Serves the metrics of jobs at ``/metrics``, until the process ends."""

    def __init__(self, host: str, port: int, token_file: str | None = None) -> None:
        """Open the port; 0 chooses a free one. With a file of a token, callers must send the token."""
        client = _library()
        self._jobs: list[RunningJob] = []
        self._lock = threading.Lock()
        registry = client.CollectorRegistry(auto_describe=False)
        registry.register(self)
        app = client.make_wsgi_app(registry)
        if token_file is not None:
            app = _asking_for_token(app, _token_in(token_file))
        try:
            self._server = LimitedServer(host, port, app)
        except OSError as error:
            raise PlanError(f"cannot open {host}:{port} for Prometheus: {error.strerror or error}") from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="flintstream-prometheus", daemon=True)
        self._thread.start()
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

    def collect(self) -> Iterator[object]:
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


def _token_in(path: str) -> str:
    try:
        token = Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise PlanError(f"'{PROMETHEUS_TOKEN_FILE.key}' does not name a readable token file: {error}") from None
    if not token:
        raise PlanError(f"'{PROMETHEUS_TOKEN_FILE.key}' names an empty file: {path}")
    return token


def _asking_for_token(app: WSGIApplication, token: str) -> WSGIApplication:
    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        given = environ.get("HTTP_AUTHORIZATION", "").encode("latin-1")
        if hmac.compare_digest(given, f"Bearer {token}".encode()):
            return app(environ, start_response)
        start_response("401 Unauthorized", [("WWW-Authenticate", "Bearer"), ("Content-Type", "text/plain")])
        return [b"a token is required: Authorization: Bearer ...\n"]

    return answer


def _library() -> Any:
    return optional_module(
        "prometheus_client", package="prometheus-client", extra="metrics", purpose="the endpoint for Prometheus"
    )
