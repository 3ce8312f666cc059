"""Replies to generated requests, for jobs that run, are as the description of the requests says."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.rest.test_rest import TOKEN, serving, started
from tests.strict import read_strictly

from flintstream.common import JobStatus
from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import history
from flintstream.rest import openapi
from flintstream.rest.app import application
from flintstream.rest.routes import routes

CHECKS = [
    *(not_a_server_error, status_code_conformance, content_type_conformance),
    *(response_headers_conformance, response_schema_conformance),
]
SCHEMA = schemathesis.openapi.from_dict(openapi.document(routes()))
EXAMPLES = 3

pytestmark = pytest.mark.slow


class Jobs:
    """A server, a job that requests may end, and one that must go on."""

    def __init__(self, server, directory):
        self.server, self.directory, self.number = server, directory, 0
        self.client = self.bystander = self.start()
        self.known: dict[str, Any] = {}

    def start(self):
        self.number += 1
        place = self.directory / str(self.number)
        place.mkdir()
        return started(place)

    def parameters(self):
        """Return what the parameters in paths stand for, of a job that runs."""
        if not self.known or self.client.get_job_status().result() is not JobStatus.RUNNING:
            self.client = self.start()
            number = str(self.client.get_job_id())
            job = self.server.get(f"/jobs/{number}").json()
            (manager,) = {item["id"] for item in self.server.get("/taskmanagers").json()["taskmanagers"]}
            self.known = {
                "jobid": number,
                "applicationid": number,
                "vertexid": job["vertices"][-1]["id"],
                "subtaskindex": 0,
                "attempt": 0,
                "taskmanagerid": manager,
            }
        history = self.server.get(f"/jobs/{self.known['jobid']}/checkpoints").json()["history"]
        return {**self.known, "checkpointid": history[0]["id"]}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("jobs")
    with pytest.MonkeyPatch.context() as patch, serving(application(TOKEN)) as server:
        patch.setenv(registry.DIRECTORY, str(directory / "jobs"))
        patch.setenv(history.DIRECTORY, str(directory / "history"))
        found = Jobs(server, directory)
        yield found
        for client in {found.bystander, found.client}:
            client.cancel().result()


def send(jobs, case):
    """Send a request, and check the reply."""
    base = f"http://127.0.0.1:{jobs.server.port}"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    reply = case.call(base_url=base, headers=headers, timeout=60)
    case.validate_response(reply, checks=CHECKS, headers=headers)
    read_strictly(reply.content)
    assert jobs.bystander.get_job_status().result() is JobStatus.RUNNING
    return reply


@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_replies_to_generated_requests_are_as_described(jobs, places_of_jobs, case):
    send(jobs, case)


@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_replies_about_jobs_that_run_are_as_described(jobs, places_of_jobs, case):
    known = jobs.parameters()
    case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
    reply = send(jobs, case)
    gets = case.method == case.operation.method.upper() == "GET"
    unknown = {"filename", "triggerid"} & set(case.path_parameters)
    if gets and not case.query and not unknown:
        assert reply.status_code == 200


@pytest.fixture
def places_of_jobs(jobs, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(jobs.directory / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(jobs.directory / "history"))
