"""The SQL gateway answers requests as Flink's does, to callers with the token."""

from __future__ import annotations

import base64
import json

import pytest
from tests.rest.test_rest import TOKEN, places, serving  # noqa: F401 - a fixture
from tests.waiting import wait_for

from flintstream.coordinator import registry
from flintstream.rest.app import application
from flintstream.rest.sql import sql_routes
from flintstream.sql_gateway.sessions import Gateway

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def server(places):  # noqa: F811 - the fixture
    gateway = Gateway({"flintstream.engine": "inline"})
    with serving(application(TOKEN, more=sql_routes(gateway))) as caller:
        yield caller
    gateway.close_all()


@pytest.fixture
def session(server):
    return f"/v4/sessions/{server.post('/v4/sessions', {}).json()['sessionHandle']}"


def start(server, session, statement, **more):
    reply = server.post(f"{session}/statements", {"statement": statement, **more})
    return f"{session}/operations/{reply.json()['operationHandle']}"


def page_of(server, address):
    """Return the page at an address, when it is ready."""
    pages = []

    def is_ready():
        pages.append(server.get(address).json())
        return pages[-1].get("resultType") != "NOT_READY"

    wait_for(is_ready)
    return pages[-1]


def run(server, session, statement, row_format="JSON", **more):
    """Return the replies with rows, and the last one."""
    address = f"{start(server, session, statement, **more)}/result/0?rowFormat={row_format}"
    found = []
    while address is not None:
        reply = page_of(server, address)
        if "errors" in reply or reply["results"]["data"] or reply["resultType"] == "EOS":
            found.append(reply)
        address = reply.get("nextResultUri")
    return found


def test_the_server_names_itself_as_flink_does(server):
    for version in ("", "/v1", "/v4"):
        assert server.get(f"{version}/info").json() == {"productName": "Apache Flink", "version": "2.3.0"}
        assert server.get(f"{version}/api_versions").json() == {"versions": ["V1", "V2", "V3", "V4"]}
    assert server.get("/v5/info").status_code == 404


@pytest.mark.parametrize("version", ["/v1", "/v2", "/v3", "/v4"])
def test_each_version_runs_a_statement(server, version):
    handle = server.post(f"{version}/sessions", {"sessionName": "mine"}).json()["sessionHandle"]
    session = f"{version}/sessions/{handle}"
    first, last = run(server, session, "SHOW CURRENT CATALOG")
    operation = first["nextResultUri"].removeprefix(f"{session}/operations/").partition("/")[0]
    query = "" if version == "/v1" else "?rowFormat=JSON"
    text = {"type": "VARCHAR", "nullable": True, "length": 2147483647}
    assert first == {
        "resultType": "PAYLOAD",
        "isQueryResult": False,
        "resultKind": "SUCCESS_WITH_CONTENT",
        "results": {
            "columns": [{"name": "current catalog name", "logicalType": text, "comment": None}],
            "rowFormat": "JSON",
            "data": [{"kind": "INSERT", "fields": ["default_catalog"]}],
        },
        "nextResultUri": f"{session}/operations/{operation}/result/1{query}",
    }
    assert (last["resultType"], last["results"]["data"]) == ("EOS", [])
    assert "nextResultUri" not in last


def test_a_query_has_a_job_and_kinds_of_changes(server, session):
    query = "SELECT n, COUNT(*) AS c FROM (VALUES (1), (1)) AS t(n) GROUP BY n"
    replies = run(server, session, query)
    assert all(reply["isQueryResult"] and len(reply["jobID"]) == 32 for reply in replies)
    assert [row for reply in replies for row in reply["results"]["data"]] == [
        {"kind": "INSERT", "fields": [1, 1]},
        {"kind": "UPDATE_BEFORE", "fields": [1, 1]},
        {"kind": "UPDATE_AFTER", "fields": [1, 2]},
    ]
    replies = run(server, session, query, "PLAIN_TEXT", executionConfig={"execution.runtime-mode": "BATCH"})
    assert [row for reply in replies for row in reply["results"]["data"]] == [{"kind": "INSERT", "fields": ["1", "2"]}]


def test_an_insert_answers_with_the_id_of_its_job(server, session):
    reply = server.post(
        f"{session}/configure-session", {"statement": "CREATE TABLE sink (n INT) WITH ('connector' = 'blackhole')"}
    )
    assert reply.json() == {}
    first, _ = run(server, session, "INSERT INTO sink SELECT 1")
    assert first["results"]["columns"][0]["name"] == "job id"
    assert first["results"]["data"] == [{"kind": "INSERT", "fields": [first["jobID"]]}]
    assert not first["isQueryResult"]


def test_an_error_has_the_form_that_clients_of_flink_read(server, session):
    operation = start(server, session, "SELECT nope")
    wait_for(lambda: server.get(f"{operation}/status").json() == {"status": "ERROR"})
    reply = server.get(f"{operation}/result/0?rowFormat=JSON")
    assert reply.status_code == 500
    summary, trace = reply.json()["errors"]
    assert summary == "Internal server error."
    lines = trace.splitlines()
    assert lines[0] == "<Exception on server side:"
    assert lines[-1] == "End of exception on server side>"
    assert (
        "Caused by: org.apache.flink.table.api.ValidationException: Column 'nope' not found at line 1, column 8"
        in lines
    )


def test_settings_of_a_session_can_be_read_without_secrets(server):
    properties = {"table.local-time-zone": "Europe/Zurich", "my.password": "hush"}
    handle = server.post("/v4/sessions", {"properties": properties}).json()["sessionHandle"]
    told = server.get(f"/v4/sessions/{handle}").json()["properties"]
    assert told["table.local-time-zone"] == "Europe/Zurich"
    assert "hush" not in json.dumps(told)


def test_heartbeat_and_completion(server, session):
    assert server.post(f"{session}/heartbeat", {}).json() == {}
    body = json.dumps({"statement": "SHOW TA", "position": 7})
    reply = server.call("GET", f"{session}/complete-statement", body, {"Content-Type": "application/json"})
    assert reply.json() == {"candidates": ["TABLES"]}


def test_closing_an_operation_cancels_its_job(server, session):
    statement = "CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')"
    server.post(f"{session}/configure-session", {"statement": statement})
    operation = start(server, session, "SELECT n FROM endless")
    wait_for(registry.entries)
    assert page_of(server, f"{operation}/result/0?rowFormat=JSON")["resultType"] == "PAYLOAD"
    assert server.call("DELETE", f"{operation}/close").json() == {"status": "CLOSED"}
    wait_for(lambda: not registry.entries())
    assert server.get(f"{operation}/status").status_code == 500
    assert server.call("DELETE", f"{operation}/close").json() == {"status": "CLOSED"}


def test_cancelling_an_operation_cancels_its_job(server, session):
    statement = "CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')"
    server.post(f"{session}/configure-session", {"statement": statement})
    operation = start(server, session, "SELECT n FROM endless")
    wait_for(registry.entries)
    assert server.post(f"{operation}/cancel", {}).json() == {"status": "CANCELED"}
    wait_for(lambda: not registry.entries())
    reply = server.post(f"{operation}/cancel", {})
    assert reply.status_code == 500
    assert "cannot be cancelled" in reply.json()["errors"][1]


def test_a_session_ends(server, session):
    assert server.call("DELETE", session).json() == {"status": "CLOSED"}
    reply = server.call("DELETE", session)
    assert reply.status_code == 500
    assert "does not exist" in reply.json()["errors"][1]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "text"),
    [
        ("GET", "/v4/sessions/x", None, 400, 'Cannot resolve path parameter (session_handle) from value "x"'),
        ("GET", f"/v4/sessions/{NOBODY}", None, 500, f"Session '{NOBODY}' does not exist."),
        ("GET", "SESSION/operations/x/status", None, 400, "operation_handle"),
        ("GET", f"SESSION/operations/{NOBODY}/status", None, 500, NOBODY),
        ("GET", f"SESSION/operations/{NOBODY}/result/x", None, 400, "Cannot resolve path parameter (token)"),
        ("GET", f"SESSION/operations/{NOBODY}/result/0?rowFormat=XML", None, 400, "query parameter (rowFormat)"),
        ("POST", "SESSION/statements", {}, 400, "'statement' must be a string"),
        ("POST", "SESSION/statements", {"statement": 5}, 400, "'statement' must be a string"),
        ("POST", "SESSION/statements", {"statement": "SELECT 1", "executionTimeout": "1"}, 400, "milliseconds"),
        ("POST", "SESSION/statements", {"statement": "SELECT 1", "executionConfig": {"a": 1}}, 400, "strings"),
        ("POST", "/v4/sessions", {"properties": []}, 400, "'properties' must be an object of strings"),
        ("POST", "SESSION/configure-session", {"statement": "SELECT 1"}, 500, "SELECT does not configure a session"),
    ],
)
def test_a_wrong_request_is_refused(server, session, method, path, body, status, text):
    content = None if body is None else json.dumps(body)
    reply = server.call(method, path.replace("SESSION", session), content, {"Content-Type": "application/json"})
    assert reply.status_code == status
    assert text in " ".join(reply.json()["errors"])


@pytest.mark.promise("S7")
def test_nobody_gets_in_without_the_token(server, session):
    server.token = None
    for method, path in (("POST", "/v4/sessions"), ("GET", session), ("POST", f"{session}/statements")):
        reply = server.call(method, path, "{}", {"Content-Type": "application/json"})
        assert reply.status_code == 401


def test_a_page_of_another_site_cannot_run_a_statement(server, session):
    headers = {"Content-Type": "application/json", "Origin": "http://evil.example"}
    body = json.dumps({"statement": "SHOW TABLES"})
    assert server.call("POST", f"{session}/statements", body, headers).status_code == 403
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert server.call("POST", f"{session}/statements", body, form).status_code == 415


def test_a_session_is_only_for_the_user_that_opened_it(server):
    def as_user(name):
        given = base64.b64encode(f"{name}:{TOKEN}".encode()).decode()
        return {"Authorization": f"Basic {given}", "Content-Type": "application/json"}

    server.token = None
    handle = json.loads(server.call("POST", "/v4/sessions", "{}", as_user("alice")).content)["sessionHandle"]
    assert server.call("GET", f"/v4/sessions/{handle}", None, as_user("alice")).status_code == 200
    assert server.call("GET", f"/v4/sessions/{handle}", None, as_user("bob")).status_code == 500


def test_a_long_statement_is_taken_and_a_longer_one_refused(server, session):
    query = f"SELECT '{'x' * 200_000}' AS c"
    replies = run(server, session, query)
    assert len(replies[0]["results"]["data"][0]["fields"][0]) == 200_000
    reply = server.post(f"{session}/statements", {"statement": "x" * 1_100_000})
    assert reply.status_code == 413


def test_requests_are_described(server):
    described = server.get("/openapi.json").json()["paths"]
    assert "post" in described["/v4/sessions"]
    assert "/v1/jobs" in described
