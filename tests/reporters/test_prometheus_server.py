"""A real Prometheus reads a running job, and the queries of the dashboard have answers."""

from __future__ import annotations

from contextlib import closing

import pytest
from tests.reporters.prometheus_server import needs_prometheus, prometheus, queries
from tests.reporters.test_reporters import OF_KAFKA, checkpointed, running
from tests.standalone import free_port
from tests.waiting import wait_for

from flintstream.reporters.prometheus import endpoint_at

pytestmark = [pytest.mark.server, needs_prometheus]


def test_the_queries_of_the_dashboard_return_data_of_a_running_job():
    port = free_port()
    endpoint = endpoint_at("127.0.0.1", port)
    with (
        closing(endpoint),
        running({"flintstream.metrics.prometheus.port": str(port)}) as client,
        prometheus(port) as server,
    ):
        checkpointed(client)
        for query in queries():
            if any(name in query for name in OF_KAFKA) or "numLateRecordsDropped" in query:
                continue
            assert wait_for(lambda query=query: server.values(query)), query
        (value,) = server.ask("query", query="flink_jobmanager_job_numRestarts")["result"]
        assert value["metric"]["job_name"] == "watched"
        assert value["value"][1] == "0"
