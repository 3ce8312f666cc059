"""Replies have the names and types of those of a real Flink 2.3 server; requests steer real jobs."""

from __future__ import annotations

import json
import os
import re
import socket
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
from flintstream.coordinator import asking, registry
from flintstream.coordinator.monitoring import history
from flintstream.coordinator.monitoring.descriptions import PARTS
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.rest import records
from flintstream.rest.app import application
from flintstream.testing import CollectSink

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

GOLDENS = json.loads((Path(__file__).parent / "goldens.json").read_text())


TOKEN = "token-of-the-tests"  # noqa: S105


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))


class Reply:
    def __init__(self, status, content, headers):
        self.status_code, self.content, self.headers = status, content, headers

    def json(self):
        return json.loads(self.content)


class Caller:
    """Calls a server by HTTP, with its token unless ``token`` is None."""

    def __init__(self, port, token=TOKEN):
        self.port, self.token = port, token

    def call(self, method, path, content=None, headers=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            own = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
            connection.request(method, path, content, {**own, **(headers or {})})
            reply = connection.getresponse()
            return Reply(reply.status, reply.read(), reply.headers)
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.call("GET", path, None, headers)

    def patch(self, path):
        return self.call("PATCH", path)

    def put(self, path, json):
        return self.call("PUT", path, dumps(json), {"Content-Type": "application/json"})

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
    with serving(application(TOKEN)) as caller:
        yield caller


def started(directory, *, fails=False):
    settings = {
        "flintstream.engine": "inline",
        "flintstream.epoch.idle-duration": "20",
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.dir": (directory / "checkpoints").as_uri(),
        "flintstream.rest.savepoint-dirs": f"{directory}/savepoints; {directory.as_uri()}/file",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "10 ms",
    }
    flag = directory / "fail"

    def function(n):
        if flag.exists():
            flag.unlink()
            raise ValueError("no good")
        return n + 1

    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
    numbers = env.from_source(PacedSource(10**9, 0.002), WatermarkStrategy.for_monotonous_timestamps(), "numbers")
    keyed = numbers.key_by(lambda n: n % 3)
    keyed.reduce(max).name("most").map(function).name("next").sink_to(CollectSink())
    client = env.execute_async("recorded")
    wait_for(lambda: client.get_accumulators().result().get("numCheckpoints", 0) > 1)
    if fails:
        flag.touch()
    return client


@pytest.fixture
def job(tmp_path):
    client = started(tmp_path)
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
    if isinstance(ours, dict) or not all(isinstance(own, str) for own in ours):
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


SAME = sorted(
    line
    for line in GOLDENS
    if line.startswith("GET") and not any(word in line for word in (":triggerid", "after a failure"))
)
ONLY_NAMES = {"GET /v1/applications", "GET /v1/taskmanagers/:taskmanagerid (unknown)"}
"""What Flink answers with another status: these say what is wrong, here as there."""


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """A server with a job that has failed once, and that no test changes."""
    directory, renewal = tmp_path_factory.mktemp("running"), history._renewal
    with pytest.MonkeyPatch.context() as patch, serving(application(TOKEN)) as server:
        patch.setenv(registry.DIRECTORY, str(directory / "jobs"))
        patch.setenv(history.DIRECTORY, str(directory / "history"))
        # The job lives beside other tests, and would write its record into their directories.
        patch.setattr(history, "_renewal", lambda job, started_ms: lambda progress: None)
        client = started(directory, fails=True)
        patch.setattr(history, "_renewal", renewal)
        number = str(client.get_job_id())
        wait_for(lambda: server.get(f"/jobs/{number}/checkpoints").json()["latest"]["restored"])
        done = server.get(f"/jobs/{number}/checkpoints").json()["counts"]["completed"]
        wait_for(lambda: server.get(f"/jobs/{number}/checkpoints").json()["counts"]["completed"] > done)
        yield server, number, directory
        client.cancel().result()


@pytest.fixture
def running(lasting, monkeypatch):
    server, number, directory = lasting
    monkeypatch.setenv(registry.DIRECTORY, str(directory / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(directory / "history"))
    return server, number


@pytest.fixture(scope="module")
def parameters(lasting):
    """What the parameters in the paths of requests stand for."""
    server, number, directory = lasting
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(registry.DIRECTORY, str(directory / "jobs"))
        patch.setenv(history.DIRECTORY, str(directory / "history"))
        return {
            ":jobid": number,
            ":applicationid": number,
            ":filename": "job.log",
            ":vertexid": server.get(f"/jobs/{number}").json()["vertices"][-1]["id"],
            ":checkpointid": str(server.get(f"/jobs/{number}/checkpoints").json()["latest"]["restored"]["id"]),
            ":taskmanagerid": server.get("/taskmanagers").json()["taskmanagers"][0]["id"],
        }


def path_of(request_line, parameters):
    path, _, note = request_line.removeprefix("GET ").partition(" ")
    wrong = {"(unknown)": "0" * 32, "(malformed)": "x"}.get(note)
    if wrong is not None and path.endswith("id"):
        path = path.rpartition(":")[0] + wrong
    for name, value in parameters.items():
        path = path.replace(name, value)
    wanted = "numRecordsIn" if "vertices" in path else "numRestarts,uptime"
    return path + (wanted if path.endswith("get=") else "")


@pytest.mark.parametrize("request_line", SAME)
def test_a_reply_has_the_names_and_types_of_flinks(running, parameters, request_line):
    server, _ = running
    reply = server.get(path_of(request_line, parameters))
    golden = GOLDENS[request_line]
    if request_line in ONLY_NAMES:
        assert reply.status_code == 404
    else:
        assert reply.status_code == golden["status"]
    if golden["reply"] == {"exceptionHistory": {"entries": [], "truncated": ["boolean"]}}:
        golden = GOLDENS["GET /v1/jobs/:jobid/exceptions (after a failure)"]
    expected = dict(golden["reply"]) if isinstance(golden["reply"], dict) else golden["reply"]
    if request_line.endswith("/checkpoints"):
        failed = GOLDENS["GET /v1/jobs/:jobid/checkpoints (after a failure)"]["reply"]
        expected["latest"] = {**expected["latest"], "restored": failed["latest"]["restored"]}
    assert differences(expected, shape(reply.json())) == []


def test_numbers_of_subtasks_and_of_a_checkpoint_are_those_of_the_job(running):
    server, number = running
    first, second = server.get(f"/jobs/{number}").json()["vertices"]
    vertex = server.get(f"/jobs/{number}/vertices/{second['id']}").json()
    (subtask,) = vertex["subtasks"]
    assert subtask["metrics"]["read-records"] > 0
    assert vertex["aggregated"]["metrics"]["read-records"]["sum"] == subtask["metrics"]["read-records"]
    times = [item["metrics"] for item in (subtask, *server.get(f"/jobs/{number}").json()["vertices"])]
    assert all(time_["accumulated-idle-time"] + time_["accumulated-busy-time"] > 0 for time_ in times)
    done = server.get(f"/jobs/{number}/checkpoints").json()["latest"]["completed"]
    detail = server.get(f"/jobs/{number}/checkpoints/details/{done['id']}").json()
    assert sum(value["state_size"] for value in detail["tasks"].values()) == done["state_size"] > 0
    assert {*detail["tasks"]} == {first["id"], second["id"]}
    config = server.get(f"/jobs/{number}/checkpoints/config").json()
    assert (config["interval"], config["checkpoint_storage"]) == (50, "FileSystemCheckpointStorage")
    settings = server.get(f"/jobs/{number}/jobmanager/config").json()
    assert {"key": "execution.checkpointing.interval", "value": "50 ms"} in settings
    assert server.get(f"/jobs/{number}/vertices/{second['id']}/subtasks/1").status_code == 404
    assert server.get(f"/jobs/{number}/checkpoints/details/999999").status_code == 404
    assert server.get(f"/jobs/{number}/checkpoints/details/x").status_code == 400


OF_FLINK = (
    "allSubTasksRunningOrFinishedTime cancellingTime createdTime deployingTime downtime failingTime initializingTime "
    "lastCheckpointCompletedTimestamp lastCheckpointDuration lastCheckpointExternalPath lastCheckpointFullSize "
    "lastCheckpointMetadataSize lastCheckpointPersistedData lastCheckpointProcessedData lastCheckpointRestoreTimestamp "
    "lastCheckpointSize lastCompletedCheckpointId numRescales numRestarts numberOfCompletedCheckpoints "
    "numberOfFailedCheckpoints numberOfInProgressCheckpoints restartingTime runningTime totalNumberOfCheckpoints uptime"
)
"""The metrics of a job of Flink 2.3.0 with checkpoints, as its server lists them."""


def test_a_job_has_all_metrics_of_flinks(running):
    server, number = running
    place = f"/jobs/{number}/metrics"
    known = [item["id"] for item in server.get(place).json()]
    assert {*OF_FLINK.split()} <= {*known}
    told = {item["id"]: item["value"] for item in server.get(f"{place}?get={','.join(known)}").json()}
    assert 0 < int(told["allSubTasksRunningOrFinishedTime"]) <= int(told["runningTime"]) < int(told["uptime"])
    assert told["createdTime"] == told["downtime"] == told["cancellingTime"] == "0"
    assert told["lastCheckpointExternalPath"].endswith(f"/chk-{told['lastCompletedCheckpointId']}")
    assert int(told["lastCheckpointMetadataSize"]) > 100
    started, taken = int(told["lastCheckpointRestoreTimestamp"]), int(told["lastCheckpointCompletedTimestamp"])
    (failure,) = server.get(f"/jobs/{number}/exceptions").json()["exceptionHistory"]["entries"]
    assert failure["timestamp"] <= started <= taken
    epochs = server.get(f"/flintstream/jobs/{number}").json()["metrics"]["epochs"]
    assert epochs["ways"] == {"inline": epochs["count"]}
    assert epochs["total_ms"]["work"] > 0


def test_a_failure_names_the_operator_and_the_checkpoint_that_the_job_went_back_to(running):
    server, number = running
    (entry,) = server.get(f"/jobs/{number}/exceptions").json()["exceptionHistory"]["entries"]
    assert (entry["exceptionName"], entry["taskName"]) == ("ValueError", "next")
    (told,) = server.get(f"/flintstream/jobs/{number}").json()["exceptions"]
    restored = server.get(f"/jobs/{number}/checkpoints").json()["latest"]["restored"]
    assert told["restart_from"] == restored["id"]
    assert "no good" in told["text"]
    assert told["record"].isdecimal()
    assert server.get(f"/jobs/{number}/exceptions?maxExceptions=0").json()["exceptionHistory"]["truncated"] is True


def test_the_log_files_of_jobs_are_listed_and_read(running, monkeypatch, tmp_path):
    server, _ = running
    file, other, pipe = tmp_path / "job.log", tmp_path / "other.log", tmp_path / "pipe.log"
    file.write_bytes(b"first line\nan invalid byte: \xff\n")
    other.write_text("of no job")
    os.mkfifo(pipe)
    assert server.get("/jobmanager/logs").json() == {"logs": []}
    for own, names in ((file, ["job.log"]), (pipe, [])):
        monkeypatch.setattr("flintstream.coordinator.monitoring.output_file.own", lambda path=own: str(path))
        listed = server.get("/v1/jobmanager/logs").json()["logs"]
        assert [item["name"] for item in listed] == names
    assert server.get("/jobmanager/logs/pipe.log").status_code == 404
    monkeypatch.setattr("flintstream.coordinator.monitoring.output_file.own", lambda: str(file))
    (item,) = server.get("/jobmanager/logs").json()["logs"]
    assert (item["size"], item["mtime"]) == (file.stat().st_size, file.stat().st_mtime_ns // 1_000_000)
    reply = server.get("/jobmanager/logs/job.log")
    assert (reply.status_code, reply.content) == (200, "first line\nan invalid byte: \ufffd\n".encode())
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert reply.headers["x-content-type-options"] == "nosniff"
    monkeypatch.setattr("flintstream.rest.logs.LONGEST_TEXT", 5)
    assert server.get("/jobmanager/logs/job.log").content == "e: \ufffd\n".encode()
    for name in ("other.log", "..%2Fother.log", "%2Fetc%2Fpasswd", str(other).replace("/", "%2F")):
        assert server.get(f"/jobmanager/logs/{name}").status_code == 404, name
    assert server.call("GET", "/jobmanager/logs/job.log", None, {"Authorization": "Bearer wrong"}).status_code == 401


def test_the_page_gets_samples_and_lines_of_the_log(running):
    server, number = running
    samples = wait_for(lambda: server.get(f"/flintstream/jobs/{number}/curves").json()[-1:])
    assert samples[-1]["in"] >= 0
    assert [len(part) for part in samples[-1]["vertices"]] == [5, 5]
    assert server.get(f"/flintstream/jobs/{number}/curves?since={samples[-1]['at_ms']}").json()[:1] != samples
    assert server.get(f"/flintstream/jobs/{number}/curves?since=x").status_code == 400
    assert any("restarts" in line["text"] for line in server.get(f"/flintstream/jobs/{number}/log").json())
    (listed,) = server.get("/flintstream/jobs").json()
    assert listed["name"] == "recorded"


@pytest.mark.parametrize("kind", ["CONFIGURED", "FULL", "INCREMENTAL"])
def test_a_checkpoint_that_is_asked_for_is_the_next_one(running, kind):
    server, number = running
    before = server.get(f"/jobs/{number}/checkpoints").json()["latest"]["completed"]["id"]
    asked = server.post(f"/jobs/{number}/checkpoints", json={"checkpointType": kind})
    assert asked.status_code == 202
    assert differences(GOLDENS["POST /v1/jobs/:jobid/checkpoints"]["reply"], shape(asked.json())) == []
    place = f"/jobs/{number}/checkpoints/{asked.json()['request-id']}"
    told = wait_for(lambda: (reply := server.get(place).json())["status"]["id"] == "COMPLETED" and reply)
    assert told["operation"]["checkpointId"] > before


def test_a_checkpoint_of_an_unknown_type_is_refused(server, job):
    reply = server.post(f"/jobs/{job.get_job_id()}/checkpoints", json={"checkpointType": "SAVEPOINT"})
    assert (reply.status_code, reply.json()["errors"]) == (
        400, ["'checkpointType' must be one of CONFIGURED, FULL, INCREMENTAL"]
    )  # fmt: skip


def test_a_client_that_reports_that_it_lives_is_answered(server, job):
    reply = server.patch(f"/jobs/{job.get_job_id()}/clientHeartbeat")
    assert (reply.status_code, reply.json()) == (202, {})
    assert server.patch(f"/jobs/{'0' * 32}/clientHeartbeat").status_code == 404


def test_the_coordinators_of_operators_have_no_metrics(running):
    server, number = running
    vertex = server.get(f"/jobs/{number}").json()["vertices"][0]["id"]
    assert server.get(f"/jobs/{number}/vertices/{vertex}/jm-operator-metrics").json() == []


def test_the_result_of_a_job_is_there_when_it_has_ended(server, job):
    place = f"/jobs/{job.get_job_id()}/execution-result"
    assert server.get(place).json() == {"status": {"id": "IN_PROGRESS"}}
    job.cancel().result()
    told = wait_for(lambda: (reply := server.get(place).json())["status"]["id"] == "COMPLETED" and reply)
    assert told["job-execution-result"]["application-status"] == "CANCELED"
    assert told["job-execution-result"]["net-runtime"] > 0


def test_the_description_of_the_requests_names_all_of_them(running):
    server, _ = running
    document = server.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    names = [item["operationId"] for operations in document["paths"].values() for item in operations.values()]
    assert len(names) == len(set(names)) > 40
    for line in GOLDENS:
        path = re.sub(r":([a-z]+)", r"{\1}", line.split()[1].partition("?")[0])
        path = re.sub(r"subtasks/\d", "subtasks/{subtaskindex}", path).replace("attempts/0", "attempts/{attempt}")
        if path not in {"/v1/nothing", "/v1/applications"} and "99999999" not in path:
            assert line.split()[0].lower() in document["paths"][path], line
    for path, operations in document["paths"].items():
        for operation in operations.values():
            told = {item["name"] for item in operation["parameters"] if item["in"] == "path"}
            assert told == set(re.findall(r"{(\w+)}", path))
    page = server.get("/docs")
    assert page.status_code == 200
    assert b"/v1/jobs/{jobid}/vertices/{vertexid}" in page.content


@pytest.mark.slow
def test_every_request_gets_an_answer_in_json_whatever_its_parameters_are(running):
    server, number = running
    for path, operations in server.get("/openapi.json").json()["paths"].items():
        for value in (number, "9" * 400, "%00", "..%2f..%F0%9F%9A%80"):
            if "get" in operations:
                reply = server.get(re.sub(r"{\w+}", value, path))
                assert reply.status_code in {200, 400, 404}, (path, value)
                assert reply.json() is not None


def test_numbers_are_those_of_the_job(server, job):
    number = str(job.get_job_id())
    (listed,) = server.get("/jobs/overview").json()["jobs"]
    assert (listed["jid"], listed["name"], listed["state"]) == (number, "recorded", "RUNNING")
    detail = server.get(f"/jobs/{number}").json()
    first, second = detail["vertices"]
    assert first["metrics"]["write-records"] > 0
    assert (first["name"], second["name"]) == (
        "Source: numbers -> Timestamps/Watermarks", "most -> next -> Sink: Sink"
    )  # fmt: skip
    ids = [item["id"] for item in server.get(f"/jobs/{number}/vertices/{first['id']}/metrics").json()]
    assert "0.Source__numbers.numRecordsOut" in ids
    nodes = {node["id"]: node for node in detail["plan"]["nodes"]}
    assert [edge["id"] for edge in nodes[second["id"]]["inputs"]] == [first["id"]]
    told = server.get(f"/jobs/{number}/checkpoints").json()
    assert told["counts"]["completed"] >= 2
    assert told["latest"]["completed"]["external_path"].endswith(f"chk-{told['latest']['completed']['id']}")
    assert server.get(f"/jobs/{number}/metrics?get=numRestarts").json() == [{"id": "numRestarts", "value": "0"}]


def test_a_job_is_rescaled_on_request(server, job):
    number = str(job.get_job_id())
    place = f"/v1/jobs/{number}/resource-requirements"
    required = server.get(place).json()
    assert [value["parallelism"] for value in required.values()] == [{"lowerBound": 1, "upperBound": 1}] * 2
    for wrong, text in (
        ({}, "is missing"),
        ({**required, "f" * 32: {"parallelism": {"upperBound": 1}}}, "is not a vertex"),
        ({item: {"parallelism": {"lowerBound": 3, "upperBound": 2}} for item in required}, "is above the upper one"),
        ({item: {"parallelism": {"lowerBound": 1, "upperBound": 0}} for item in required}, "positive numbers"),
        ({item: {"upperBound": 1} for item in required}, "must have a 'parallelism'"),
        ({item: {"parallelism": {"lowerBound": 1, "upperBound": 129}} for item in required}, "parallelism 129"),
    ):
        reply = server.put(place, json=wrong)
        assert (reply.status_code, text in reply.json()["errors"][0]) == (400, True), (wrong, reply.json())
    wanted = {item: {"parallelism": {"lowerBound": 1, "upperBound": 3}} for item in required}
    reply = server.put(place, json=wanted)
    assert (reply.status_code, reply.json()) == (200, {})
    wait_for(lambda: server.get(place).json() == wanted, job)
    assert [item["parallelism"] for item in server.get(f"/jobs/{number}").json()["vertices"]] == [3, 3]
    assert server.put(f"/v1/jobs/{'0' * 32}/resource-requirements", json={}).status_code == 404


def test_the_page_rescales_a_job(server, job):
    number = str(job.get_job_id())
    assert server.post(f"/flintstream/jobs/{number}/rescale", json={"parallelism": "x"}).status_code == 400
    assert server.post(f"/flintstream/jobs/{number}/rescale", json={"parallelism": 0}).status_code == 400
    assert server.post(f"/flintstream/jobs/{number}/rescale", json={"parallelism": 1}).json() == {}
    assert {item["parallelism"] for item in server.get(f"/jobs/{number}").json()["vertices"]} == {1}


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


@pytest.mark.promise("S8")
def test_a_page_that_names_the_server_otherwise_is_refused(server, job):
    assert server.get("/jobs", headers={"Host": "evil.example:8081"}).status_code == 403
    assert server.get("/", headers={"Host": "evil.example:8081"}).status_code == 403
    assert server.get("/jobs", headers={"Host": "localhost:8081"}).status_code == 200


@pytest.mark.promise("S8")
def test_a_page_of_another_server_changes_nothing(server, job, tmp_path):
    headers = {"Content-Type": "application/json", "Origin": "http://evil.example"}
    body = json.dumps({"target-directory": str(tmp_path / "savepoints")})
    assert server.post(f"/jobs/{job.get_job_id()}/savepoints", content=body, headers=headers).status_code == 403
    assert server.call("PATCH", f"/jobs/{job.get_job_id()}", headers=headers).status_code == 403
    own = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{server.port}"}
    assert server.post(f"/jobs/{job.get_job_id()}/savepoints", content=body, headers=own).status_code == 202


@pytest.mark.promise("S8")
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


def test_a_port_that_is_taken_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = CliRunner().invoke(main, ["ui", "--port", str(port)])
    assert told.exit_code == 1
    assert told.stderr == f"Error: cannot listen at 127.0.0.1, port {port}: Address already in use\n"


def test_a_request_asks_a_running_job_only_for_the_parts_that_it_needs(running, monkeypatch):
    server, number = running
    asked = []

    def ask(entry, request, **arguments):
        asked.append(asking.ask(entry, request, **arguments))
        return asked[-1]

    monkeypatch.setattr(records, "ask", ask)
    for path in (f"/jobs/{number}/status", f"/jobs/{number}/plan", f"/flintstream/jobs/{number}"):
        assert server.call("GET", path).status_code == 200
    status, plan, everything = (set(reply) & set(PARTS) for reply in asked)
    assert (status, plan, everything) == ({"status"}, {"plan"}, set(PARTS))
