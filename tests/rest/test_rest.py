"""Replies have the names and types of those of a real Flink 2.3 server; requests steer real jobs."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from json import dumps
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.engine.sources import PacedSource
from tests.rest.shape import shape
from tests.waiting import wait_for

from flintstream.cli import main
from flintstream.common import JobStatus, WatermarkStrategy
from flintstream.coordinator import history, registry
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.rest.app import application
from flintstream.testing import CollectSink

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

GOLDENS = json.loads((Path(__file__).parent / "goldens.json").read_text())


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))


class Reply:
    def __init__(self, status, content):
        self.status_code, self.content = status, content

    def json(self):
        return json.loads(self.content)


class Caller:
    """Calls a server by HTTP."""

    def __init__(self, port):
        self.port = port

    def call(self, method, path, content=None, headers=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, content, headers or {})
            reply = connection.getresponse()
            return Reply(reply.status, reply.read())
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.call("GET", path, None, headers)

    def patch(self, path):
        return self.call("PATCH", path)

    def post(self, path, json=None, content=None, headers=None):
        content = dumps(json) if content is None else content
        return self.call("POST", path, content, headers or {"Content-Type": "application/json"})


@contextmanager
def serving(app):
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    try:
        yield Caller(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def server():
    with serving(application()) as caller:
        yield caller


@pytest.fixture
def job(tmp_path):
    settings = {
        "flintstream.engine": "inline",
        "flintstream.epoch.idle-duration": "20",
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
    numbers = env.from_source(PacedSource(10**9, 0.002), WatermarkStrategy.for_monotonous_timestamps(), "numbers")
    numbers.key_by(lambda n: n % 3).map(lambda n: n + 1).name("next").sink_to(CollectSink())
    client = env.execute_async("recorded")
    wait_for(lambda: client.get_accumulators().result().get("numCheckpoints", 0) > 1)
    yield client
    client.cancel().result()


def differences(golden, ours, place=""):
    """Return where ours lacks a name of the golden, has another one, or a value of another type."""
    if isinstance(golden, dict):
        if not isinstance(ours, dict):
            return [f"{place}: {ours} is no object"]
        found = [f"{place}: only one has {name}" for name in sorted(golden.keys() ^ ours.keys())]
        for name in golden.keys() & ours.keys():
            found += differences(golden[name], ours[name], f"{place}.{name}")
        return found
    if not golden or not ours or golden == ["null"]:
        return []
    if isinstance(golden[0], (dict, list)):
        return differences(golden[0], ours[0], f"{place}[]") if isinstance(ours, list) else [f"{place}: no list"]
    if isinstance(ours, dict) or not all(isinstance(each, str) for each in ours):
        return [f"{place}: {ours} is not {golden}"]
    return [f"{place}: {ours} is not {golden}"] if not {*ours} <= {*golden, "null"} - ({"null"} - {*golden}) else []


def test_a_difference_is_seen():
    golden = shape({"a": 1, "b": [{"c": "x"}], "d": None})
    assert differences(golden, shape({"a": 2, "b": [], "d": "anything"})) == []
    assert differences(golden, shape({"a": 2, "b": [{"c": 1}], "e": 3})) == [
        ": only one has d",
        ": only one has e",
        *differences(golden["b"], shape([{"c": 1}]), ".b"),
    ]
    assert differences(golden, shape({"a": "2", "b": [], "d": None})) == [".a: ['string'] is not ['number']"]


SAME = [
    "GET /v1/config",
    "GET /v1/overview",
    "GET /v1/jobs",
    "GET /v1/jobs/overview",
    "GET /v1/jobs/:jobid",
    "GET /v1/jobs/:jobid/plan",
    "GET /v1/jobs/:jobid/status",
    "GET /v1/jobs/:jobid/exceptions",
    "GET /v1/jobs/:jobid/checkpoints",
    "GET /v1/jobs/:jobid/metrics",
    "GET /v1/jobs/:jobid/metrics?get=",
    "GET /v1/jobs/:jobid/vertices/:vertexid/backpressure",
    "GET /v1/jobs/:jobid/vertices/:vertexid/metrics",
    "GET /v1/jobs/:jobid/vertices/:vertexid/watermarks",
    "GET /v1/jobs/:jobid (unknown)",
    "GET /v1/jobs/:jobid (malformed)",
    "GET /v1/nothing",
]


@pytest.mark.parametrize("request_line", SAME)
def test_a_reply_has_the_names_and_types_of_flinks(server, job, request_line):
    number = str(job.get_job_id())
    detail = server.get(f"/v1/jobs/{number}").json()
    path, _, note = request_line.removeprefix("GET ").partition(" ")
    path = path.replace(":vertexid", detail["vertices"][-1]["id"])
    path = path.replace(":jobid", {"(unknown)": "0" * 32, "(malformed)": "x"}.get(note, number))
    reply = server.get(path + ("numRestarts,uptime" if path.endswith("get=") else ""))
    golden = GOLDENS[request_line]
    assert reply.status_code == golden["status"]
    assert differences(golden["reply"], shape(reply.json())) == []


def test_numbers_are_those_of_the_job(server, job):
    number = str(job.get_job_id())
    (listed,) = server.get("/jobs/overview").json()["jobs"]
    assert (listed["jid"], listed["name"], listed["state"]) == (number, "recorded", "RUNNING")
    detail = server.get(f"/jobs/{number}").json()
    first, second = detail["vertices"]
    assert first["metrics"]["write-records"] > 0
    assert second["name"].startswith("next")
    nodes = {node["id"]: node for node in detail["plan"]["nodes"]}
    assert [edge["id"] for edge in nodes[second["id"]]["inputs"]] == [first["id"]]
    told = server.get(f"/jobs/{number}/checkpoints").json()
    assert told["counts"]["completed"] >= 2
    assert told["latest"]["completed"]["external_path"].endswith(f"chk-{told['latest']['completed']['id']}")
    assert server.get(f"/jobs/{number}/metrics?get=numRestarts").json() == [{"id": "numRestarts", "value": "0"}]


def test_a_savepoint_is_taken_on_request(server, job, tmp_path):
    number, target = str(job.get_job_id()), str(tmp_path / "savepoints")
    reply = server.post(f"/v1/jobs/{number}/savepoints", json={"target-directory": target})
    golden = GOLDENS["POST /v1/jobs/:jobid/savepoints"]
    assert (reply.status_code, shape(reply.json())) == (golden["status"], golden["reply"])
    place = f"/v1/jobs/{number}/savepoints/{reply.json()['request-id']}"
    wait_for(lambda: server.get(place).json()["status"]["id"] == "COMPLETED")
    done = server.get(place).json()
    assert shape(done) == GOLDENS["GET /v1/jobs/:jobid/savepoints/:triggerid"]["reply"]
    assert Path(done["operation"]["location"], "_metadata").exists()
    assert server.get(f"/v1/jobs/{number}/savepoints/{'0' * 32}").status_code == 404


def test_a_savepoint_that_fails_says_why(server, job, tmp_path):
    (tmp_path / "file").write_text("no directory")
    number = str(job.get_job_id())
    reply = server.post(f"/jobs/{number}/savepoints", json={"target-directory": str(tmp_path / "file")})
    place = f"/jobs/{number}/savepoints/{reply.json()['request-id']}"
    wait_for(lambda: server.get(place).json()["status"]["id"] == "COMPLETED")
    assert "the savepoint failed" in server.get(place).json()["operation"]["failure-cause"]["stack-trace"]


def test_a_job_is_stopped_with_a_savepoint_and_then_shown_as_ended(server, job, tmp_path):
    number = str(job.get_job_id())
    reply = server.post(f"/jobs/{number}/stop", json={"targetDirectory": str(tmp_path / "savepoints"), "drain": False})
    assert reply.status_code == 202
    wait_for(lambda: server.get(f"/jobs/{number}/status").json() == {"status": "FINISHED"})
    assert server.get("/overview").json()["jobs-finished"] == 1
    assert differences(GOLDENS["GET /v1/jobs/:jobid"]["reply"], shape(server.get(f"/jobs/{number}").json())) == []


def test_a_job_is_cancelled(server, job):
    number = str(job.get_job_id())
    reply = server.patch(f"/v1/jobs/{number}?mode=cancel")
    assert (reply.status_code, reply.json()) == (202, {})
    assert job.get_job_status().result() is JobStatus.CANCELED
    wait_for(lambda: server.get(f"/jobs/{number}/status").json() == {"status": "CANCELED"})


def test_exceptions_are_shown(server):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.from_collection([0]).map(lambda n: 1 // n).name("divide").sink_to(CollectSink())
    with pytest.raises(ZeroDivisionError):
        env.execute("broken")
    (job,) = server.get("/jobs").json()["jobs"]
    (entry,) = server.get(f"/jobs/{job['id']}/exceptions").json()["exceptionHistory"]["entries"]
    assert entry["exceptionName"] == "ZeroDivisionError"
    assert "divide" in entry["stacktrace"]


def test_a_token_is_asked_for(job):
    with serving(application("abc", hosts=())) as client:
        assert client.get("/jobs").status_code == 401
        assert client.get("/jobs", headers={"Authorization": "Bearer abd"}).status_code == 401
        assert client.get("/jobs", headers={"Authorization": "Bearer abc"}).status_code == 200
        assert client.patch(f"/jobs/{job.get_job_id()}").status_code == 401
    assert job.get_job_status().result() is JobStatus.RUNNING


def test_a_page_that_names_the_server_otherwise_is_refused(server, job):
    assert server.get("/jobs", headers={"Host": "evil.example:8081"}).status_code == 403
    assert server.get("/jobs", headers={"Host": "localhost:8081"}).status_code == 200


def test_a_form_of_another_page_takes_no_savepoint(server, job, tmp_path):
    body = json.dumps({"target-directory": str(tmp_path / "savepoints")})
    reply = server.post(f"/jobs/{job.get_job_id()}/savepoints", content=body, headers={"Content-Type": "text/plain"})
    assert reply.status_code == 415
    assert not (tmp_path / "savepoints").exists()


BODIES = {
    "list": "[]",
    "cut": "{",
    "deep": "[" * 5000,
    "number": '{"target-directory": 5}',
    "no-path": '{"target-directory": "ftp://me:abc@host/x"}',
    "long": "x" * 70_000,
}


@pytest.mark.parametrize("content", BODIES.values(), ids=BODIES)
def test_a_body_that_makes_no_sense_is_refused(server, job, content):
    headers = {"Content-Type": "application/json"}
    reply = server.post(f"/jobs/{job.get_job_id()}/savepoints", content=content, headers=headers)
    assert reply.status_code in {400, 413}
    assert reply.json()["errors"]


def test_the_command_asks_for_a_token_at_other_addresses(monkeypatch):
    called = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: called.append(options))
    refused = CliRunner().invoke(main, ["rest", "--host", "0.0.0.0"])  # noqa: S104
    assert refused.exit_code == 2
    assert "a server at 0.0.0.0 needs a token" in refused.stderr
    assert CliRunner().invoke(main, ["rest", "--host", "0.0.0.0", "--token", "abc"]).exit_code == 0  # noqa: S104
    assert CliRunner().invoke(main, ["rest"]).exit_code == 0
    assert [each["host"] for each in called] == ["0.0.0.0", "127.0.0.1"]  # noqa: S104
