"""Metrics reach Prometheus and OTLP under the names that the catalogue lists, with type and help."""

from __future__ import annotations

import json
import re
import threading
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.waiting import wait_for

from flintstream.common import Configuration, Duration, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.coordinator.monitoring.measured import families
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import MapFunction
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.errors import PlanError
from flintstream.metrics.families import HELP, prometheus_text
from flintstream.reporters import prometheus
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

DASHBOARDS = sorted((Path(__file__).parents[2] / "deploy" / "grafana").glob("*.json"))

OF_KAFKA = {"flink_taskmanager_job_task_operator_pendingRecords"}
LATE = {"flink_taskmanager_job_task_operator_numLateRecordsDropped"}


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 1_700_000_000_000 + value * 1000


class Counted(MapFunction):
    def open(self, runtime_context):
        self.counter = runtime_context.get_metrics_group().add_group("mine").counter("seen")

    def map(self, value):
        self.counter.inc()
        return value


def start(settings, name="watched", records=100_000):
    configuration = Configuration()
    for key, value in {"flintstream.engine": "inline", "flintstream.epoch.idle-duration": "20", **settings}.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    env.enable_checkpointing(50)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(Seconds())
    stream = env.from_source(PacedSource(records, 0.002), strategy, "paced").map(Counted(), Types.INT())
    windows = stream.key_by(lambda n: n % 3).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    windows.reduce(lambda a, b: a + b).sink_to(CollectSink())
    return env.execute_async(name)


@contextmanager
def running(settings, name="watched"):
    client = start(settings, name)
    try:
        yield client
    finally:
        client.cancel().result()


@pytest.fixture
def endpoint():
    pytest.importorskip("prometheus_client")
    opened = prometheus.endpoint_at("127.0.0.1", 0)
    yield opened
    opened.close()


def scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        return reply.read().decode()


def parsed(text):
    from prometheus_client.parser import text_string_to_metric_families

    return {family.name: family for family in text_string_to_metric_families(text)}


def checkpointed(client):
    wait_for(lambda: client.get_accumulators().result().get("numCheckpoints", 0) > 1)
    wait_for(lambda: client.get_accumulators().result().get("numRecordsOut", 0) > 1)


def exposed(port):
    return parsed(scraped(port))


CATALOGUE = {f"{scope}_{name}" for scope, names in HELP.items() for name in names}


def test_prometheus_gets_all_metrics_with_help_and_type(endpoint):
    with running({"flintstream.metrics.prometheus.port": "0"}) as client:
        checkpointed(client)
        found = exposed(endpoint.port)
    assert found.keys() >= CATALOGUE - OF_KAFKA - LATE
    for scope, names in HELP.items():
        for name, text in names.items():
            if f"{scope}_{name}" in found:
                family = found[f"{scope}_{name}"]
                kind = "summary" if name in {"latency", "epochDuration"} else "gauge"
                assert (family.documentation, family.type) == (text, kind)
    (restarts,) = found["flink_jobmanager_job_numRestarts"].samples
    assert restarts.labels["job_id"] == str(client.get_job_id())
    assert restarts.value == 0
    busy = found["flink_taskmanager_job_task_busyTimeMsPerSecond"].samples
    assert {sample.labels["subtask_index"] for sample in busy} == {"0", "1"}
    assert all(0 <= sample.value <= 1000 for sample in busy)
    mine = found["flink_taskmanager_job_task_operator_mine_seen"].samples
    assert sum(sample.value for sample in mine) > 0
    assert {sample.labels["job_name"] for sample in mine} == {"watched"}
    assert {len(sample.labels["operator_id"]) for sample in mine} == {32}
    lag = found["flink_taskmanager_job_task_operator_watermarkLag"].samples
    assert all(sample.value > 1_000_000 for sample in lag)  # the records are of 2023


def test_the_text_of_the_command_says_the_same_as_the_endpoint(endpoint):
    with running({"flintstream.metrics.prometheus.port": "0"}) as client:
        checkpointed(client)
        job = endpoint._jobs[0]
        client.cancel().result()
        text, theirs = parsed(prometheus_text(families(job))), {f.name: f for f in endpoint_of(job)}
    assert text.keys() == theirs.keys()
    for name, family in text.items():
        assert (family.documentation, family.type) == (theirs[name].documentation, theirs[name].type)
        assert [s[:2] for s in family.samples] == [s[:2] for s in theirs[name].samples]


def endpoint_of(job):
    shown = prometheus.Endpoint.__new__(prometheus.Endpoint)
    shown._jobs, shown._lock = [job], threading.Lock()
    return list(shown.collect())


def test_jobs_of_one_process_share_an_endpoint_and_leave_it_at_their_end(endpoint):
    with running({"flintstream.metrics.prometheus.port": "0"}, "one") as one:
        with running({"flintstream.metrics.prometheus.port": "0"}, "two") as two:
            checkpointed(one)
            checkpointed(two)
            jobs = exposed(endpoint.port)["flink_jobmanager_job_numRestarts"].samples
            assert {sample.labels["job_name"] for sample in jobs} == {"one", "two"}
        jobs = exposed(endpoint.port)["flink_jobmanager_job_numRestarts"].samples
        assert {sample.labels["job_name"] for sample in jobs} == {"one"}
    assert exposed(endpoint.port) == {}


def test_a_port_that_is_taken_is_told_before_the_job_starts(endpoint):
    with pytest.raises(
        PlanError, match=rf"cannot open 127.0.0.1:{endpoint.port} for Prometheus: Address already in use"
    ):
        start({"flintstream.metrics.prometheus.port": str(endpoint.port)})


@contextmanager
def collector():
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/metrics", received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_otlp_sends_all_metrics_during_the_job_and_at_its_end():
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    with collector() as (url, received):
        settings = {"flintstream.metrics.otlp.endpoint": url, "flintstream.metrics.otlp.interval": "50"}
        with running(settings) as client:
            checkpointed(client)
            wait_for(lambda: len(received) > 1)
        (resource,) = ExportMetricsServiceRequest.FromString(received[-1]).resource_metrics
    metrics = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    dotted = {f"{scope.replace('_', '.')}.{name}" for scope, names in HELP.items() for name in names}
    missing = {
        name for name in dotted - metrics.keys() if not name.endswith(("pendingRecords", "numLateRecordsDropped"))
    }
    assert missing == set()
    epochs = metrics["flink.jobmanager.job.numEpochs"]
    assert epochs.description == "Completed epochs"
    last = client.get_accumulators().result()["numEpochs"]
    assert epochs.gauge.data_points[0].as_int == last


def test_a_collector_that_is_away_does_not_disturb_the_job(caplog):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    settings = {
        "flintstream.metrics.otlp.endpoint": "http://127.0.0.1:9/v1/metrics",
        "flintstream.metrics.otlp.interval": "20",
    }
    client = start(settings, records=20)
    assert client.get_job_execution_result().result() is not None


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.name)
def test_a_dashboard_asks_only_for_metrics_and_labels_that_exist(dashboard, endpoint):
    content = json.loads(dashboard.read_text())
    queries = [target["expr"] for panel in content["panels"] for target in panel.get("targets", ())]
    queries += [variable["query"] for variable in content["templating"]["list"] if variable["type"] == "query"]
    assert len(queries) > 10
    with running({"flintstream.metrics.prometheus.port": "0"}) as client:
        checkpointed(client)
        found = exposed(endpoint.port)
    labels = {label for family in found.values() for sample in family.samples for label in sample.labels}
    for query in queries:
        for name in re.findall(r"\bflink_\w+", query):
            known = name.removesuffix("_sum").removesuffix("_count")
            assert known in found or known in OF_KAFKA | LATE, query
        matched = re.findall(r"(\w+)=~?\"", query)
        grouped = [label.strip() for group in re.findall(r"by \(([^)]*)\)", query) for label in group.split(",")]
        shown = re.findall(r"label_values\([^,]+, (\w+)\)", query)
        assert {*matched, *grouped, *shown} <= labels, query


def test_there_is_a_dashboard():
    assert [path.name for path in DASHBOARDS] == ["flintstream.json"]
