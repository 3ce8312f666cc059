"""Where savepoints may go that are requested by REST."""

from __future__ import annotations

import pytest
from tests.rest.test_rest import job, places, server  # noqa: F401 - fixtures
from tests.waiting import wait_for

from flintstream.common import JobStatus


def requested(server, job, what, name, target):  # noqa: F811
    return server.post(f"/jobs/{job.get_job_id()}/{what}", json={name: str(target)})


@pytest.mark.promise("S10")
@pytest.mark.parametrize(("what", "name"), [("savepoints", "target-directory"), ("stop", "targetDirectory")])
def test_no_savepoint_is_written_outside_the_directories_of_the_job(server, job, tmp_path, what, name):  # noqa: F811
    (tmp_path / "savepoints").mkdir()
    (tmp_path / "savepoints" / "link").symlink_to(tmp_path / "elsewhere")
    for target in (
        *(tmp_path, tmp_path / "elsewhere", f"{tmp_path}/savepoints/../elsewhere", f"{tmp_path}/savepoints-2"),
        *(f"{tmp_path}/savepoints/link/in", (tmp_path / "elsewhere").as_uri(), "memory://elsewhere", "/"),
    ):
        reply = requested(server, job, what, name, target)
        assert reply.status_code == 403, target
        assert "flintstream.rest.savepoint-dirs" in reply.json()["errors"][0]
    assert not (tmp_path / "elsewhere").exists()
    assert job.get_job_status().result() is JobStatus.RUNNING


def test_savepoints_go_below_the_directory_of_checkpoints_and_those_that_an_option_names(server, job, tmp_path):  # noqa: F811
    for target in (tmp_path / "checkpoints", tmp_path / "checkpoints" / "mine", (tmp_path / "savepoints").as_uri()):
        reply = requested(server, job, "savepoints", "target-directory", target)
        assert reply.status_code == 202
        place = f"/jobs/{job.get_job_id()}/savepoints/{reply.json()['request-id']}"
        wait_for(lambda place=place: server.get(place).json()["status"]["id"] == "COMPLETED")
        assert "location" in server.get(place).json()["operation"]
