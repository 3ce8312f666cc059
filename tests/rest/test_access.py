"""Who may use the server: callers with its token, and the browser that has opened its address with the token."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import stat
import subprocess

import pytest
from click.testing import CliRunner
from tests.rest.test_rest import TOKEN, Caller, job, places, server  # noqa: F401 - fixtures

from flintstream.cli import main
from flintstream.common import JobStatus
from flintstream.coordinator import registry
from flintstream.errors import FlintstreamError
from flintstream.rest.serving import Place, beside, is_readable_by_others

uvicorn = pytest.importorskip("uvicorn")

DATA = ("/jobs", "/v1/jobs/overview", "/v1/flintstream/jobs", "/config", "/nothing")
DOCUMENTS = ("/", "/docs", "/openapi.json", "/web/main.js")


@pytest.fixture
def stranger(server):  # noqa: F811
    return Caller(server.port, token=None)


def opened(caller):
    """Open the address with the token as a browser does. Return the headers that its page sends from then on."""
    reply = caller.get(f"/?token={TOKEN}")
    assert reply.status_code == 303
    cookie, *attributes = reply.headers["set-cookie"].split("; ")
    assert cookie.startswith(f"flintstream-{caller.port}=")
    assert {"HttpOnly", "SameSite=Strict"} <= set(attributes)
    before, key = reply.headers["location"].split("=")
    assert before == "./#key"
    assert len(key) >= 20
    assert TOKEN not in cookie + key
    return {"Cookie": cookie}, {"Flintstream-Key": key}


@pytest.mark.promise("S7")
@pytest.mark.parametrize("path", [*DATA, *DOCUMENTS])
def test_no_request_is_answered_without_the_token(stranger, path):
    reply = stranger.get(path)
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert reply.headers["connection"] == "close"


def test_nothing_is_changed_without_the_token(stranger, job, tmp_path):  # noqa: F811
    place = f"/jobs/{job.get_job_id()}"
    for method, path in (
        *(("PATCH", place), ("POST", f"{place}/savepoints"), ("POST", f"{place}/stop")),
        *(("PUT", f"{place}/resource-requirements"), ("POST", f"/flintstream{place}/rescale")),
    ):
        content = f'{{"target-directory": "{tmp_path}/savepoints", "targetDirectory": "{tmp_path}/savepoints"}}'
        assert stranger.call(method, path, content, {"Content-Type": "application/json"}).status_code == 401
    assert not (tmp_path / "savepoints").exists()
    assert job.get_job_status().result() is JobStatus.RUNNING


@pytest.mark.promise("S35")
def test_a_browser_without_the_token_gets_a_page_that_says_where_it_is(stranger):
    reply = stranger.get("/")
    assert reply.headers["content-type"].startswith("text/html")
    assert b"flintstream ui --print-address" in reply.content
    assert b"<script" not in reply.content
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert stranger.get("/jobs").json()["errors"] == ["a token is required: Authorization: Bearer ..."]


def _basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer  {TOKEN}", _basic("", TOKEN), _basic("anyone", TOKEN)])
def test_programs_send_the_token_as_bearer_or_as_a_password(stranger, header):
    assert stranger.get("/jobs", {"Authorization": header}).status_code == 200


@pytest.mark.promise("S7")
@pytest.mark.parametrize(
    "header",
    [
        *("Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Digest {TOKEN}", TOKEN, "Basic %%%"),
        *(_basic(TOKEN, ""), _basic("anyone", "x"), f"Basic {TOKEN}", "Bearer \xe9"),
    ],
)
def test_another_token_is_refused(stranger, header):
    assert stranger.get("/jobs", {"Authorization": header}).status_code == 401


def test_the_address_with_the_token_is_exchanged_for_a_cookie_and_a_key(stranger):
    cookie, key = opened(stranger)
    for path in DATA[:-1]:
        assert stranger.get(path, {**cookie, **key}).status_code == 200
    for path in DOCUMENTS:
        assert stranger.get(path, cookie).status_code == 200


def test_a_cookie_that_another_port_of_this_machine_has_received_opens_no_job(stranger, job):  # noqa: F811
    cookie, key = opened(stranger)
    for headers in (cookie, key, {**cookie, "Flintstream-Key": "x"}, {"Cookie": cookie["Cookie"] + "x", **key}):
        for path in DATA:
            assert stranger.get(path, headers).status_code == 401
        assert stranger.call("PATCH", f"/jobs/{job.get_job_id()}", headers=headers).status_code == 401


@pytest.mark.parametrize("query", ["token=", "token=x", f"token={TOKEN}x", f"token=x&token={TOKEN}", f"tokens={TOKEN}"])
def test_an_address_with_another_token_is_refused(stranger, query):
    reply = stranger.get(f"/?{query}")
    assert reply.status_code == 401
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("query", ["token=%C9", "%C9=1"])
def test_an_address_with_other_letters_is_refused(stranger, query):
    assert stranger.get(f"/?{query}").status_code == 401


def test_the_token_in_the_address_is_for_the_page_only(stranger):
    assert stranger.get(f"/jobs?token={TOKEN}").status_code == 401
    assert stranger.call("POST", f"/?token={TOKEN}").status_code == 401


def test_no_other_reply_tells_the_token(server, job):  # noqa: F811
    number = job.get_job_id()
    for path in (*DATA, *DOCUMENTS, f"/flintstream/jobs/{number}", f"/flintstream/jobs/{number}/log"):
        reply = server.get(path)
        assert TOKEN not in reply.content.decode() + str(reply.headers)


@pytest.mark.promise("S7")
def test_each_server_has_a_token_of_its_own_in_a_file_for_its_user_only():
    with beside(Place()) as place, beside(Place()) as other:
        assert place.token != other.token
        assert len(place.token) >= 32
        assert stat.S_IMODE(place.header_file.stat().st_mode) == 0o600
        assert stat.S_IMODE(place.header_file.parent.stat().st_mode) == 0o700
        assert place.header_file.read_text() == f"Authorization:Bearer {place.token}\n"
        assert Caller(place.port, place.token).get("/jobs").status_code == 200
        assert Caller(place.port, other.token).get("/jobs").status_code == 401
        assert place.token not in repr(place)
    assert not place.header_file.exists()


def test_the_file_of_a_later_server_at_the_port_stays():
    with Place("127.0.0.1", 5, "one").publish():
        later = Place("127.0.0.1", 5, "two")
        registry.write(later.header_file.name, "Authorization:Bearer two\n")
    assert later.header_file.exists()


def test_commands_print_the_address_and_the_file_of_a_running_server():
    with beside(Place()) as place:
        address = CliRunner().invoke(main, ["ui", "--port", str(place.port), "--print-address"])
        file = CliRunner().invoke(main, ["rest", "--port", str(place.port), "--print-header-file"])
    assert address.stdout == f"{place.address()}\n"
    assert file.stdout == f"{place.header_file}\n"
    gone = CliRunner().invoke(main, ["ui", "--port", str(place.port), "--print-address"])
    assert gone.exit_code == 1
    assert f"you have no server on port {place.port}" in gone.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")
def test_curl_reads_the_header_from_the_file():
    with beside(Place()) as place:
        done = subprocess.run(  # noqa: S603
            ["curl", "-s", "-H", f"@{place.header_file}", f"{place.bare_address}jobs"],  # noqa: S607
            capture_output=True,
            check=True,
            timeout=60,
        )
    assert json.loads(done.stdout) == {"jobs": []}


@pytest.mark.parametrize("command", ["rest", "ui"])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # noqa: S104
def test_the_commands_print_an_address_with_a_token(monkeypatch, command, host):
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: [item.close() for item in sockets])
    monkeypatch.setattr("flintstream.rest.serving.is_readable_by_others", lambda descriptor: False)
    told = CliRunner().invoke(main, [command, "--host", host, "--port", "0"])
    assert re.search(rf"Jobs at http://{host}:\d+/\?token=[\w-]{{32,}}, until Ctrl-C\n", told.stderr)
    monkeypatch.setenv("FLINTSTREAM_REST_TOKEN", "of-mine")
    told = CliRunner().invoke(main, [command, "--host", host, "--port", "0"])
    assert "/?token=of-mine, " in told.stderr


def test_a_file_that_others_can_read_gets_no_token(monkeypatch):
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: [item.close() for item in sockets])
    monkeypatch.setattr("flintstream.rest.serving.is_readable_by_others", lambda descriptor: True)
    told = CliRunner().invoke(main, ["ui", "--port", "0"])
    assert re.search(r"Jobs at http://127.0.0.1:(\d+)/ \('flintstream ui --print-address --port \1' adds", told.stderr)
    assert "token=" not in told.stderr


def test_who_can_read_what_is_written(tmp_path):
    with (tmp_path / "log").open("w") as file:
        for mode, expected in ((0o600, False), (0o640, True), (0o604, True)):
            (tmp_path / "log").chmod(mode)
            assert is_readable_by_others(file.fileno()) is expected
    for ends, expected in ((os.pipe(), False), ([end.detach() for end in socket.socketpair()], True)):
        assert is_readable_by_others(ends[1]) is expected
        for end in ends:
            os.close(end)


@pytest.mark.parametrize("token", ["a b", "a\nX: y", "\xe9"])
def test_a_token_that_does_not_fit_into_a_header_is_refused(token, monkeypatch):
    with pytest.raises(FlintstreamError, match="without spaces"):
        Place(token=token)
    monkeypatch.setenv("FLINTSTREAM_REST_TOKEN", token)
    told = CliRunner().invoke(main, ["ui", "--port", "0"])
    assert told.exit_code == 1
    assert token not in told.stderr
