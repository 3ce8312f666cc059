"""A name, a gauge, an error, a file or a request that is odd does not take a list, a page or another job down."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from tests.engine.sources import PacedSource
from tests.rest.test_rest import job, places, server, serving, started  # noqa: F401 - fixtures
from tests.strict import read_strictly
from tests.waiting import wait_for

from flintstream.cli import main
from flintstream.common import WatermarkStrategy
from flintstream.contracts.functions import MapFunction
from flintstream.coordinator import asking, registry
from flintstream.coordinator.monitoring import history
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.metrics.families import OPERATOR, Families, prometheus_text
from flintstream.rest import records
from flintstream.testing import CollectSink

pytest.importorskip("uvicorn")

NAME = "<img src=x onerror=alert(1)> \\ & \x1b[2J"
ODD = f"half of a pair \ud83d, {NAME} \x00"
GAUGES = {
    "nan": math.nan,
    "endless": -math.inf,
    "huge": 10**5000,
    "negative": -(10**5000),
    "large": 2**64,
    "odd": ODD,
    ODD: 1,
    "numRecordsOut": "a text under one of our names",
}


class Odd(MapFunction):
    def open(self, runtime_context):
        for name, value in GAUGES.items():
            runtime_context.get_metrics_group().gauge(name, lambda value=value: value)

    def map(self, value):
        return value


def odd_job(source, **settings):
    settings = {"flintstream.engine": "inline", "flintstream.epoch.idle-duration": "20", **settings}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), NAME)
    stream.map(Odd()).name(NAME).sink_to(CollectSink()).name("sink")
    return env.execute_async(NAME)


@pytest.fixture
def odd():
    client = odd_job(PacedSource(10**9, 0.002))
    yield str(client.get_job_id())
    client.cancel().result()


def paths_of(job_id, record):
    """Return paths of all requests for a job that change nothing."""
    paths = ["overview", "jobs", "jobs/overview", "jobs/metrics", "taskmanagers", "applications/overview"]
    inside = ["", "/plan", "/config", "/exceptions", "/checkpoints", "/checkpoints/config", "/metrics", "/accumulators"]
    inside += ["/jobmanager/config", "/resource-requirements", "/status"]
    inside += [f"/metrics?get={'uptime'}"]
    paths += [f"jobs/{job_id}{place}" for place in inside]
    for vertex in record["plan"]["vertices"]:
        place = f"jobs/{job_id}/vertices/{vertex['id']}"
        paths += [place + part for part in ("", "/subtasktimes", "/taskmanagers", "/backpressure", "/watermarks")]
        paths += [f"{place}/metrics", f"{place}/subtasks/metrics", f"{place}/subtasks/0", f"{place}/subtasks/0/metrics"]
    own = [f"flintstream/jobs{part}" for part in ("", *(f"/{job_id}{part}" for part in ("", "/curves", "/log")))]
    return [f"/v1/{path}" for path in paths + own] + [f"/v1/applications/{job_id}"]


@pytest.mark.promise("S33")
def test_names_and_gauges_of_a_job_take_no_reply_down(server, job, odd):  # noqa: F811
    wait_for(lambda: server.get(f"/jobs/{odd}").status_code == 200)
    record = wait_for(
        lambda: (told := read_strictly(server.get(f"/flintstream/jobs/{odd}").content))["metrics"]["operators"] and told
    )
    for path in paths_of(odd, record):
        reply = server.get(path)
        assert reply.status_code == 200, path
        read_strictly(reply.content)
    told = read_strictly(server.get("/jobs/overview").content)["jobs"]
    assert {item["state"] for item in told} == {"RUNNING"}
    assert {item["jid"] for item in told} == {odd, str(job.get_job_id())}
    values = record["metrics"]["operators"][1]["values"]
    assert (values["nan"], values["endless"], values["large"]) == (None, None, str(2**64))


def test_flink_has_html_in_descriptions_alone_and_names_are_escaped_there(server, odd):  # noqa: F811
    wait_for(lambda: server.get(f"/jobs/{odd}").status_code == 200)
    plan = server.get(f"/jobs/{odd}/plan").json()["plan"]
    (node,) = plan["nodes"]
    assert "<img" in plan["name"]
    assert "<img" not in node["description"]
    assert node["description"].count("&lt;img src=x onerror=alert(1)&gt; &#92; &amp; ") == 2
    assert node["description"].endswith("+- Sink: sink<br/>")


def test_a_job_with_odd_names_and_gauges_that_has_ended_is_not_lost(server):  # noqa: F811
    client = odd_job(PacedSource(3, 0))
    client.get_job_execution_result().result()
    (told,) = read_strictly(server.get("/flintstream/jobs").content)
    assert told["status"]["state"] == "FINISHED"
    assert "(FINISHED)" in CliRunner().invoke(main, ["list", "-a"]).output


def test_a_value_that_is_nested_deeply_takes_no_reply_down(server, job, monkeypatch):  # noqa: F811
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    metrics = job._handle._job.coordinator.statistics.metrics
    (told, *others) = metrics.by_subtask()
    monkeypatch.setattr(metrics, "by_subtask", lambda: [replace(told, values={"deep": deep}), *others])
    (shown,) = read_strictly(server.get("/flintstream/jobs").content)
    assert shown["name"] == "recorded"


def test_an_error_with_half_of_a_pair_is_shown(server):  # noqa: F811
    class NoWordsError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    def fails(n):
        if n == 0:
            raise ValueError(ODD)
        raise NoWordsError

    for first in (0, 1):
        env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        env.from_collection([first]).map(fails).sink_to(CollectSink())
        with pytest.raises((ValueError, NoWordsError)):
            env.execute(f"job {first}")
    told = read_strictly(server.get("/flintstream/jobs").content)
    assert [item["status"]["state"] for item in told] == ["FAILED", "FAILED"]
    assert "half of a pair \ufffd" in told[1]["error"]
    for item in told:
        assert read_strictly(server.get(f"/jobs/{item['job_id']}/exceptions").content)["exceptionHistory"]["entries"]


@pytest.mark.parametrize("form", ["json", "text", "prometheus"])
def test_the_command_line_shows_odd_gauges(odd, form):
    def output():
        result = CliRunner().invoke(main, ["metrics", odd, "-f", form])
        assert result.exit_code == 0, result.output
        return result.output if "huge" in result.output else None

    text = wait_for(output)
    assert text.encode()
    if form == "json":
        (_, told, _) = read_strictly(text)
        assert told["values"]["nan"] is None
    if form == "prometheus":
        client = pytest.importorskip("prometheus_client.parser")
        found = {family.name: family for family in client.text_string_to_metric_families(text)}
        scope = "flink_taskmanager_job_task_operator"
        assert found[f"{scope}_huge"].samples[0].value == math.inf
        assert found[f"{scope}_large"].samples[0].value == 2.0**64


def test_the_endpoint_for_prometheus_shows_odd_gauges():
    pytest.importorskip("prometheus_client")
    import urllib.request

    from flintstream.reporters import prometheus

    client = odd_job(PacedSource(10**9, 0.002), **{"flintstream.metrics.prometheus.port": "0"})
    try:
        (endpoint,) = prometheus._endpoints.values()
        where = f"http://127.0.0.1:{endpoint.port}/metrics"

        def read():
            with urllib.request.urlopen(where, timeout=20) as reply:
                text = reply.read().decode()
            return "operator_huge" in text and text

        assert "+Inf" in wait_for(read)
    finally:
        client.cancel().result()
        endpoint.close()


def test_metrics_with_odd_gauges_are_sent_by_otlp(monkeypatch):
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics

    from flintstream.reporters import otlp

    found = Families()
    for name, value in GAUGES.items():
        found.add(OPERATOR, name, {"job_name": ODD}, value)
    monkeypatch.setattr(otlp, "families", lambda _: found)
    data = otlp.Otlp("http://127.0.0.1:9/", 1000)._data(cast("Any", None), 0)
    assert b"huge" in encode_metrics(data).SerializeToString()
    assert prometheus_text(found).encode()


# -- processes that do not answer ------------------------------------------------------------------------------------

ENDLESS = """
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.common import WatermarkStrategy
from flintstream.testing import CollectSink
from tests.engine.sources import PacedSource
env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
env.from_source(PacedSource(10**9, 0.01), WatermarkStrategy.no_watermarks(), "paced").sink_to(CollectSink())
env.execute("stopped")
"""


@contextmanager
def stopped_jobs(count):
    """Start jobs in processes of their own, and stop them as Ctrl-Z does."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    processes = [subprocess.Popen([sys.executable, "-c", ENDLESS], env=environment) for _ in range(count)]  # noqa: S603
    try:
        wait_for(
            lambda: (
                all(item.poll() is None for item in processes)
                and CliRunner().invoke(main, ["list"]).output.count("stopped (RUNNING)") == count
            ),
        )
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.promise("S34")
@pytest.mark.kills
def test_stopped_jobs_are_listed_and_do_not_delay_the_list_one_by_one(server, job, monkeypatch):  # noqa: F811
    monkeypatch.setattr(asking, "ALL_SECONDS", 1.0)
    with stopped_jobs(4):
        began = time.monotonic()
        overview = server.get("/flintstream/jobs").json()
        listed = CliRunner().invoke(main, ["list"]).output
        spent = time.monotonic() - began
        flinks = {item["jid"]: item["state"] for item in server.get("/jobs/overview").json()["jobs"]}
        silent = [item for item in overview if item["name"] == "stopped"]
        assert [item["status"]["state"] for item in silent] == ["UNKNOWN"] * 4
        assert all("does not answer" in item["error"] for item in silent)
        assert {item["status"]["state"] for item in overview if item["name"] != "stopped"} == {"RUNNING"}
        assert listed.count("does not answer") == 4
        assert "recorded (RUNNING)" in listed
        assert sorted(flinks.values()) == ["RECONCILING"] * 4 + ["RUNNING"]
        assert spent < 4 * asking.ANSWER_SECONDS, "as long as if one had been asked after the other"
        one = silent[0]["job_id"]
        for path in ("", "/plan", "/checkpoints", "/exceptions"):
            assert server.get(f"/jobs/{one}{path}").status_code == 200
        assert server.get(f"/flintstream/jobs/{one}/curves").status_code == 200
        refused = server.patch(f"/jobs/{one}")
        assert (refused.status_code, "does not answer" in refused.json()["errors"][0]) == (503, True)


@pytest.fixture
def deaf(tmp_path):
    """The entry of a job whose socket has no place for another caller."""
    (tmp_path / "flintstream-control-deaf").mkdir()
    address = str(tmp_path / "flintstream-control-deaf" / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(0)
        callers = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for caller in callers:
            caller.setblocking(False)
            try:
                caller.connect(address)
            except BlockingIOError:
                break
        entry = registry.Entry("ab" * 16, "deaf", os.getpid(), registry.host(), 1, address, "00" * 32)
        registry.add(entry)
        yield entry
        for caller in callers:
            caller.close()


@pytest.mark.promise("S34")
def test_a_job_whose_socket_is_full_counts_as_silent(deaf, server, monkeypatch):  # noqa: F811
    monkeypatch.setattr(asking, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(asking, "ALL_SECONDS", 0.2)
    with pytest.raises(asking.JobSilentError):
        asking.ask(deaf, "status")
    (told,) = server.get("/flintstream/jobs").json()
    assert (told["name"], told["status"]["state"]) == ("deaf", "UNKNOWN")
    for path in paths_of(deaf.job_id, {"plan": {"vertices": []}}):
        assert server.get(path).status_code == 200, path


# -- files that are damaged ------------------------------------------------------------------------------------------


@pytest.fixture
def kept():
    """A record in the history, and its file."""
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.from_collection([1]).sink_to(CollectSink())
    env.execute("kept")
    (record,) = history.records()
    return record, history.directory() / f"{record['job_id']}.json"


def copied(record, number, **changes):
    copy = {**record, "job_id": f"{number:032x}", **changes}
    path = history.directory() / f"{copy['job_id']}.json"
    path.write_text(json.dumps(copy))
    path.chmod(0o600)
    return path


def changed(record, place, value):
    """Return a copy with another value in one place."""
    copy = json.loads(json.dumps(record))
    *outer, last = place
    inner = copy
    for name in outer:
        inner = inner[name]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return copy


def places_of(tree, place=()):
    """Yield the place of every value."""
    if place:
        yield place
    # A busy machine makes long lists of equal items.
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree[:2]) if isinstance(tree, list) else ()
    for name, value in inner:
        yield from places_of(value, (*place, name))


VALUES: list[Any] = [..., None, True, -1, 10**30, 10**12, 1e308, math.nan, "", "\ud800", [], {}, [None], {"a": 1}, [[]]]


@pytest.mark.promise("S33")
@pytest.mark.deep
def test_a_record_with_any_part_changed_takes_no_list_down(kept, caplog):
    record, path = kept
    from flintstream.rest.routes import Request, routes

    known = [route for route in routes() if route.method == "GET"]
    copied(record, 1)
    vertex = record["plan"]["vertices"][0]["id"]
    parts = {"jobid": record["job_id"], "vertexid": vertex, "applicationid": record["job_id"], "subtaskindex": "0"}
    parts |= {"attempt": "0", "checkpointid": "1", "taskmanagerid": "x", "triggerid": "0" * 32, "filename": "x"}
    for number, place in enumerate(places_of(record)):
        for value in (VALUES[number % len(VALUES)], VALUES[number * 7 % len(VALUES)]):
            path.write_text(json.dumps(changed(record, place, value)))
            told = {item["job_id"] for item in records.records()}
            assert f"{1:032x}" in told
            for route in known:
                with suppress(records.RefusedError):
                    route.reply(Request(parts, {}, {}))
            if place[0] in {"status", "started_ms", "ended_ms", "error", "name"}:
                assert CliRunner().invoke(main, ["list", "-a", "-v"]).exit_code == 0


def make_fifo(path):
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: path.write_text("[]"), "it is []"),
        (lambda path: path.write_text("null"), "it is empty"),
        (lambda path: path.write_text("{"), "Expecting"),
        (lambda path: path.write_bytes(b"\xff"), "codec"),
        (lambda path: path.write_text("9" * 5000), "digits"),
        (lambda path: path.write_text('{"format": 1}'), "it has no release"),
        (lambda path: path.write_text('{"format": 2}'), "it was written by a different release"),
        (lambda path: path.chmod(0o666), "only you can write"),
        (lambda path: (path.unlink(), path.mkdir()), "only you can write"),
        (make_fifo, "only you can write"),
    ],
)
def test_a_damaged_record_is_skipped_and_named_once(kept, server, caplog, damage, reason):  # noqa: F811
    record, path = kept
    others = [copied(record, number).stem for number in range(1, 4)]
    damage(path)
    for _ in range(2):
        assert sorted(item["job_id"] for item in server.get("/flintstream/jobs").json()) == others
    told = [text for text in caplog.messages if str(path) in text]
    assert len(told) == 1
    assert reason in told[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text("[1]"),
        lambda path: path.write_text("{}"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_bytes(b"\xed\xa0\x80"),
        lambda path: path.write_text(" " * (1 << 17)),
        lambda path: path.chmod(0o622),
        make_fifo,
    ],
)
def test_a_damaged_entry_is_skipped_and_named_once(job, server, caplog, damage):  # noqa: F811
    path = registry.directory() / f"{'cd' * 16}.json"
    path.write_text("")
    path.chmod(0o600)
    damage(path)
    for _ in range(2):
        assert [item["job_id"] for item in server.get("/flintstream/jobs").json()] == [str(job.get_job_id())]
    assert len([text for text in caplog.messages if str(path) in text]) == 1


@pytest.mark.parametrize("place", [registry, history])
def test_a_directory_that_others_can_write_is_named_once(place, kept, server, caplog):  # noqa: F811
    directory = place.directory()
    directory.chmod(0o777)
    for _ in range(2):
        assert server.get("/flintstream/jobs").status_code == 200
    assert len([text for text in caplog.messages if text.startswith(f"{directory} is ignored")]) == 1


# -- requests --------------------------------------------------------------------------------------------------------

JSON = {"Content-Type": "application/json"}
DIGITS = b'{"parallelism": %s}'
MALFORMED = {
    "a parameter of 5,000 digits": ("GET", f"/jobs/{{}}/exceptions?maxExceptions={'9' * 5000}", b"", {}),
    "a parameter that is no number": ("GET", "/jobs/{}/exceptions?maxExceptions=x", b"", {}),
    "digits of another script": ("GET", "/jobs/{}/exceptions?maxExceptions=%D9%A3", b"", {}),
    "a time of 5,000 digits": ("GET", f"/flintstream/jobs/{{}}/curves?since={'9' * 5000}", b"", {}),
    "half of a pair in the query": ("GET", "/flintstream/jobs/{}/curves?since=%ED%A0%80", b"", {}),
    "a number in the path": ("GET", f"/jobs/{{}}/checkpoints/details/{'9' * 5000}", b"", {}),
    "half of a pair in the path": ("GET", "/jobs/%ED%A0%80", b"", {}),
    "a null in the path": ("GET", "/jobs/%00", b"", {}),
    "an unknown path": ("GET", "/%ED%A0%80/%FF", b"", {}),
    "an unknown method": ("BREW", "/jobs", b"", {}),
    "a host that is no host": ("GET", "/nothing", b"", {"Host": "["}),
    "an origin that is no origin": ("POST", "/jobs/{}/stop", b"{}", {**JSON, "Origin": "http://["}),
    "a body of another kind": ("POST", "/jobs/{}/stop", b"{}", {"Content-Type": "text/plain"}),
    "no body": ("POST", "/flintstream/jobs/{}/rescale", b"", JSON),
    "a body that is no JSON": ("POST", "/jobs/{}/stop", b"{", JSON),
    "a body that is no text": ("POST", "/jobs/{}/stop", b"\xff\xfe", JSON),
    "a list": ("POST", "/jobs/{}/stop", b"[]", JSON),
    "a deep body": ("POST", "/jobs/{}/stop", b"[" * 60_000, JSON),
    "a long body": ("POST", "/jobs/{}/stop", b" " * 70_000, JSON),
    "a number of 5,000 digits": (
        "POST",
        "/flintstream/jobs/{}/rescale",
        b'{"parallelism": ' + b"9" * 5000 + b"}",
        JSON,
    ),
    "a number of 4,000 digits": (
        "POST",
        "/flintstream/jobs/{}/rescale",
        b'{"parallelism": ' + b"9" * 4000 + b"}",
        JSON,
    ),
    "NaN": ("POST", "/flintstream/jobs/{}/rescale", b'{"parallelism": NaN}', JSON),
    "half of a pair as a key": ("PUT", "/jobs/{}/resource-requirements", b'{"\\ud800": 1}', JSON),
    "half of a pair as a directory": ("POST", "/jobs/{}/savepoints", b'{"target-directory": "x://\\ud800"}', JSON),
    "half of a pair as an id": ("POST", "/jobs/{}/stop", b'{"triggerId": "\\ud800"}', JSON),
    "bounds of 4,000 digits": (
        *("PUT", "/jobs/{}/resource-requirements"),
        *(b'{"%s": {"parallelism": {"lowerBound": %s, "upperBound": 1}}}' % (b"0" * 32, b"9" * 4000), JSON),
    ),
}


@pytest.mark.parametrize("request_", MALFORMED.values(), ids=MALFORMED)
def test_every_malformed_request_gets_a_refusal_in_flinks_shape(server, job, request_):  # noqa: F811
    method, path, body, headers = request_
    reply = server.call(method, path.replace("{}", str(job.get_job_id())), body or None, headers)
    told = read_strictly(reply.content)
    assert 400 <= reply.status_code < 500, told
    assert list(told) == ["errors"]
    assert all(isinstance(text, str) and text for text in told["errors"])
    assert server.get(f"/jobs/{job.get_job_id()}/status").json() == {"status": "RUNNING"}


@pytest.mark.promise("S35")
@pytest.mark.parametrize(
    "path", ["/jobs", "/jobs/unknown", "/nothing", "/v1/openapi.json", "/", "/docs", "/web/main.js"]
)
def test_no_browser_keeps_a_reply_or_takes_it_for_something_else(server, path):  # noqa: F811
    reply = server.get(path)
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Cache-Control"] == "no-store"


def test_a_refusal_without_a_token_is_json_that_no_browser_keeps(server):  # noqa: F811
    reply = type(server)(server.port, token=None).get("/jobs")
    assert (reply.status_code, list(read_strictly(reply.content))) == (401, ["errors"])
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Cache-Control"] == "no-store"


def test_an_error_of_the_server_itself_has_flinks_shape_and_no_details(server, monkeypatch, caplog):  # noqa: F811
    monkeypatch.setattr(history, "ended_jobs", lambda: 1 // 0)
    reply = server.get("/jobs")
    assert reply.status_code == 500
    assert reply.json() == {"errors": ["Internal server error: see the log of the server"]}
    assert "ZeroDivisionError" in caplog.text
