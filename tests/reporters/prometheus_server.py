"""A real Prometheus that reads one endpoint every second, only on this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.standalone import free_port
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = shutil.which("prometheus")
needs_prometheus = pytest.mark.skipif(PROGRAM is None, reason="prometheus is not there (.ci/systems installs it)")
DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "flintstream.json"
CONFIGURATION = """
global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: flintstream
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Prometheus:
    """Answers queries over what it has read."""

    def __init__(self, port: int) -> None:
        self._place = f"http://127.0.0.1:{port}"

    def ask(self, path: str, **parameters: str) -> Any:
        """Return the data of an answer of Prometheus' API."""
        address = f"{self._place}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(address, timeout=60) as reply:  # noqa: S310
            return json.loads(reply.read())["data"]

    def reads(self) -> bool:
        """Tell whether it has read the endpoint, and could the last time."""
        try:
            targets = self.ask("targets")["activeTargets"]
        except OSError:
            return False
        return [target["health"] for target in targets] == ["up"]

    def values(self, query: str, seconds: int = 60) -> list[float]:
        """Return all numbers that a query has given in the last seconds, as a dashboard shows them."""
        now = float(self.ask("query", query="time()")["result"][0])
        span = {"start": str(now - seconds), "end": str(now), "step": "1"}
        found = self.ask("query_range", query=query, **span)["result"]
        return [float(value) for series in found for _, value in series["values"]]


def queries() -> list[str]:
    """Return the queries of the panels of the dashboard, for all jobs."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return [target["expr"].replace("$job", ".*") for panel in panels for target in panel.get("targets", ())]


@contextmanager
def prometheus(endpoint: int) -> Iterator[Prometheus]:
    """Start a Prometheus that reads the endpoint at a port, and end it."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="prometheus-", ignore_cleanup_errors=True) as directory:
        configuration = Path(directory, "prometheus.yml")
        configuration.write_text(CONFIGURATION.format(port=endpoint), encoding="utf-8")
        command = [str(PROGRAM), f"--config.file={configuration}", f"--storage.tsdb.path={directory}/data"]
        with Path(directory, "log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603
                [*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log
            )
        try:
            server = Prometheus(port)
            wait_for(lambda: process.poll() is not None or server.reads())
            assert process.poll() is None, Path(directory, "log").read_text(encoding="utf-8")
            yield server
        finally:
            process.terminate()
            process.wait(60)
