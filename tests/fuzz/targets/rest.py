"""Requests to the REST interface, and the JSON that leaves a process: of odd jobs, and of records from files."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

from tests.fuzz.mutate import mutated, mutated_tree
from tests.fuzz.target import ACCEPTED, EQUAL, REFUSED, Target, Violation
from tests.strict import read_strictly

from flintstream.channels.listener import Listener
from flintstream.common._text.strict_json import json_text
from flintstream.coordinator import control, registry
from flintstream.coordinator.monitoring import history
from flintstream.coordinator.monitoring.measured import families
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.metrics.families import prometheus_text
from flintstream.metrics.subtask import SubtaskMetrics
from flintstream.rest.app import application
from flintstream.rest.records import RefusedError
from flintstream.rest.routes import Request, routes
from flintstream.testing import CollectSink

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from flintstream.coordinator.client import RunningJob

TOKEN = b"the-token"
HEADERS = [["host", "localhost:8081"], ["authorization", "Bearer the-token"]]
JSON = ["content-type", "application/json"]
ODD_HEADERS = [("host", "["), ("origin", "http://["), ("cookie", "a=b;;="), ("content-length", "x")]
BYSTANDER, ASKED = "b" * 32, "a" * 32
PARTS = {"checkpointid": "1", "subtaskindex": "0", "attempt": "0", "triggerid": "0" * 32}
NAME_OF_PART = re.compile(r":(\w+)")


def _parts(path: str, known: dict[str, str]) -> dict[str, str]:
    """Return a value for each part of a route's path; one that is not known is ``x``."""
    return {name: known.get(name, "x") for name in NAME_OF_PART.findall(path)}


def _changed(random: Random, text: str) -> str:
    return mutated(random, text.encode("latin-1", "replace"), [b""]).decode("latin-1")


def finished_job(directory: Path) -> RunningJob:
    """Run a small job to its end, and return it; its record is in the history."""
    os.environ[registry.DIRECTORY], os.environ[history.DIRECTORY] = str(directory / "jobs"), str(directory / "history")
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.from_collection([1, 2, 3]).key_by(lambda n: n % 2).reduce(max).name("most").sink_to(CollectSink())
    client = env.execute_async("an ended job")
    client.get_job_execution_result().result()
    return client._handle._job  # type: ignore[attr-defined]


class _Listed:
    """A running job of which others know, and that does nothing but answer."""

    def __init__(self, job: RunningJob, directory: Path, job_id: str) -> None:
        self.changes: list[str] = []
        self.control = control.Control(job)
        for name in ("savepoint", "stop", "rescale", "cancel"):
            self.control._requests[name] = self._changing(name)
        place = directory / f"flintstream-control-{job_id[:4]}"
        place.mkdir()
        address = str(place / "socket")
        self.entry = registry.Entry(job_id, job_id, os.getpid(), registry.host(), 1, address, "00" * 32)
        self.control._entry = self.entry
        self.control._listener = Listener(address, bytes.fromhex(self.entry.key), self.control._answer)
        registry.add(self.entry)

    def _changing(self, name: str) -> Any:
        def change(**_: Any) -> str:
            self.changes.append(name)
            return "CANCELED"

        return change


class Requests(Target):
    """Each request gets a reply or a refusal in Flink's form, and changes no other job than the one that it names."""

    name = "rest-request"
    share = 4

    def valid(self) -> list[bytes]:
        logging.disable(logging.CRITICAL)
        job = finished_job(self.directory)
        (record,) = history.records()
        self.bystander = _Listed(job, self.directory, BYSTANDER)
        self.asked = _Listed(job, self.directory, ASKED)
        self.app = application(TOKEN.decode())
        vertex = record["plan"]["vertices"][0]["id"]
        requests: list[Any] = []
        for route in routes():
            for job_id in (ASKED, record["job_id"]):
                known = {**PARTS, "vertexid": vertex, "jobid": job_id, "applicationid": job_id}
                parts = _parts(route.path, known)
                path = route.path
                for name, value in parts.items():
                    path = path.replace(f":{name}", value)
                requests.append([route.method, f"/v1{path}", "", [*HEADERS], ""])
        bodies = {
            f"/jobs/{ASKED}/savepoints": {"target-directory": "/x", "cancel-job": False, "triggerId": "c" * 32},
            f"/jobs/{ASKED}/stop": {"targetDirectory": "file:///x", "drain": True},
            f"/flintstream/jobs/{ASKED}/rescale": {"parallelism": 2},
        }
        requests += [["POST", path, "", [*HEADERS, JSON], json.dumps(body)] for path, body in bodies.items()]
        bounds = json.dumps({vertex: {"parallelism": {"lowerBound": 1, "upperBound": 2}}})
        requests.append(["PUT", f"/jobs/{ASKED}/resource-requirements", "", [*HEADERS, JSON], bounds])
        requests.append(["GET", f"/flintstream/jobs/{ASKED}/curves", "since=17", [*HEADERS], ""])
        requests.append(["GET", f"/jobs/{record['job_id']}/exceptions", "maxExceptions=5", [*HEADERS], ""])
        requests.append(["GET", "/jobs/metrics", f"get=uptime&agg=max&jobs={ASKED}", [*HEADERS], ""])
        requests += [["GET", "/", "token=the-token", [*HEADERS], ""], ["GET", "/docs", "", [*HEADERS], ""]]
        requests.append(["GET", "/openapi.json", "", [["host", "localhost"]], ""])
        return [json.dumps(request).encode() for request in requests]

    def mutated(self, random: Random) -> bytes:
        request = json.loads(random.choice(self.corpus))
        if random.random() < 0.5:
            part = random.choice((0, 1, 2, 4))
            request[part] = _changed(random, request[part])
        elif random.random() < 0.4 and request[4]:
            request[4] = json.dumps(mutated_tree(random, json.loads(request[4])))
        elif random.random() < 0.5:
            name, value = random.choice(ODD_HEADERS)
            request[3].append([random.choice([name, "\xff"]), _changed(random, value)])
        else:
            request[3] = [[name, _changed(random, value)] for name, value in request[3]]
        return json.dumps(request).encode()

    def check(self, data: bytes) -> str:
        method, path, query, headers, body = json.loads(data)
        raw = quote(path.encode("latin-1", "replace"), safe="/%:")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "root_path": "",
            "method": method,
            "path": unquote(raw),
            "raw_path": raw.encode(),
            "client": ("127.0.0.1", 1),
            "query_string": query.encode("latin-1", "replace"),
            "headers": [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers],
            "server": ("127.0.0.1", 8081),
        }
        before = len(self.bystander.changes)
        status, content, kind = asyncio.run(asyncio.wait_for(self._reply(scope, body.encode("latin-1", "replace")), 60))
        if len(self.bystander.changes) > before:
            raise Violation(f"the request changed another job: {self.bystander.changes[before:]}")
        if not 200 <= status < 500:
            raise Violation(f"status {status}: {content[:500]!r}")
        told = read_strictly(content) if kind == b"application/json" else None
        if status >= 400:
            if status != 401 and not (isinstance(told, dict) and all(isinstance(t, str) for t in told["errors"])):
                raise Violation(f"the refusal has another form: {content[:500]!r}")
            return EQUAL if data in self.corpus else REFUSED
        return EQUAL if data in self.corpus else ACCEPTED

    async def _reply(self, scope: dict[str, Any], body: bytes) -> tuple[int, bytes, bytes]:
        received = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return received.pop() if received else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        headers = {name.lower(): value for name, value in sent[0]["headers"]}
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return sent[0]["status"], content, headers.get(b"content-type", b"")


class Records(Target):
    """A damaged or forged record of an ended job is shown or skipped, and the other jobs are shown in any case."""

    name = "rest-records"
    share = 4

    def valid(self) -> list[bytes]:
        finished_job(self.directory)
        (record,) = history.records()
        self.path = history.directory() / f"{record['job_id']}.json"
        self.job_id, self.vertex = record["job_id"], record["plan"]["vertices"][0]["id"]
        other = {**record, "job_id": BYSTANDER}
        (history.directory() / f"{BYSTANDER}.json").write_text(json.dumps(other))
        (history.directory() / f"{BYSTANDER}.json").chmod(0o600)
        self.routes = [route for route in routes() if route.method == "GET"]
        return [json.dumps({**record, "log": [], "curves": record["curves"][:2]}).encode()]

    def mutated(self, random: Random) -> bytes:
        if random.random() < 0.3:
            return mutated(random, self.corpus[0], self.corpus)
        return json.dumps(mutated_tree(random, json.loads(self.corpus[0]))).encode()

    def check(self, data: bytes) -> str:
        registry._warned.clear()
        self.path.write_bytes(data)
        self.path.chmod(0o600)
        known = {**PARTS, "jobid": self.job_id, "applicationid": self.job_id, "vertexid": self.vertex}
        shown = False
        for route in self.routes:
            try:
                reply = route.reply(Request(_parts(route.path, known), {}, {}))
            except RefusedError as error:
                if error.status >= 500:
                    raise Violation(f"{route.path}: {error}") from error
                continue
            told = read_strictly(json_text(reply))
            if route.path == "/flintstream/jobs":
                ids = {job["job_id"] for job in told}
                if BYSTANDER not in ids:
                    raise Violation("another job is not shown")
                shown = self.job_id in ids
        if data in self.corpus:
            return EQUAL
        return ACCEPTED if shown else REFUSED


class Leaving(Target):
    """Whatever names, gauges and errors of a job are, what leaves its process can be read strictly."""

    name = "json-out"
    share = 6

    def valid(self) -> list[bytes]:
        self.job = finished_job(self.directory)
        gauges = {"nan": math.nan, "huge": 10**400, "odd": "\ud800", "some": 1.5, "many": 5, "nothing": None}
        told = {
            "name": "orders",
            "gauges": gauges,
            "error": "no price for \ud83d",
            "more": [{}],
        }
        return [json.dumps(told).encode()]

    def mutated(self, random: Random) -> bytes:
        if random.random() < 0.2:
            return mutated(random, self.corpus[0], self.corpus)
        return json.dumps(mutated_tree(random, json.loads(self.corpus[0]))).encode()

    def check(self, data: bytes) -> str:
        try:
            told = json.loads(data)
        except (ValueError, RecursionError):
            return REFUSED
        told = told if isinstance(told, dict) else {"gauges": {"": told}}
        gauges, name = told.get("gauges"), told.get("name")
        job = cast("Any", self.job)
        node = job.job.plan.chains[0].nodes[0]
        values = gauges if isinstance(gauges, dict) else {"x": gauges}
        job.coordinator.statistics.metrics.by_subtask = lambda: [SubtaskMetrics(node.name, node.id, 0, values)]
        job.coordinator.failures.append(
            {"at_ms": 1, "type": "ValueError", "text": told.get("error"), "operator": name, "record": told}
        )
        answering = control.Control(self.job)
        answering._requests["wait"] = lambda: {"state": "FAILED", "error": told}
        for request in ("record", "metrics", "status", "checkpoints", "prometheus", "wait"):
            reply = read_strictly(json_text(answering._reply(json.dumps({"request": request}).encode())).encode())
            if "result" not in reply:
                raise Violation(f"{request}: {reply}")
        prometheus_text(families(self.job)).encode()
        history._write(self.job, 1, 2)
        written = (history.directory() / f"{job.job.plan.job_id}.json").read_bytes()
        read_strictly(written)
        return EQUAL if data in self.corpus else ACCEPTED


TARGETS: tuple[type[Target], ...] = (Requests, Records, Leaving)
