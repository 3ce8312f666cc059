"""Sessions run statements in the background, one after the other, and hand out results in pages."""

from __future__ import annotations

import threading

import pytest
from tests.waiting import wait_for

from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import history
from flintstream.datastream._streams.collect import CollectQueueSink
from flintstream.sql_gateway.errors import GatewayError
from flintstream.sql_gateway.operations import OperationStatus
from flintstream.sql_gateway.results import MOST_ROWS
from flintstream.sql_gateway.sessions import Gateway, Session
from flintstream.table._errors import SqlError

INLINE = {"flintstream.engine": "inline"}
ENDLESS = "CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')"
MANY = "CREATE TABLE many (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '12000')"


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))


@pytest.fixture
def session():
    session = Session(INLINE)
    yield session
    session.close()


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


def finish(operation):
    assert operation.wait(30)
    return operation.require_success()


def rows_of(result):
    found, token = [], 0
    while token is not None:
        page = result.page(token)
        found += [tuple(row) for row in page.rows]
        token = page.next_token
    return found


def run(session, statement, **options):
    return rows_of(finish(session.execute(statement, **options)))


def running_jobs():
    return registry.entries()


def test_a_statement_gives_its_answer_and_then_the_end(session):
    result = finish(session.execute("SHOW CURRENT DATABASE"))
    first = result.page(0)
    assert [tuple(row) for row in first.rows] == [("default_database",)]
    assert first.next_token == 1
    assert result.page(1).next_token is None
    assert not result.is_query
    assert result.job_id is None


def test_statements_run_in_the_order_in_which_they_came(session):
    names = [f"t{i}" for i in range(20)]
    operations = [session.execute(f"CREATE VIEW {name} AS SELECT {i} AS n") for i, name in enumerate(names)]
    operations += [session.execute(f"TABLE {name}") for name in names]
    assert [rows_of(finish(operation)) for operation in operations[20:]] == [[(i,)] for i in range(20)]


def test_a_page_can_be_asked_for_again_until_the_next_one_was(session):
    session.configure(MANY)
    result = finish(session.execute("SELECT n FROM many"))
    wait_for(lambda: len(result._rows) == MOST_ROWS)
    page = result.page(0)
    assert len(page.rows) == MOST_ROWS
    assert result.page(0) is page
    result.page(1)
    with pytest.raises(GatewayError, match="the token must be 2 or 1, but it is 0"):
        result.page(0)
    with pytest.raises(GatewayError, match="the token must be 2 or 1, but it is 7"):
        result.page(7)


def test_no_more_rows_are_read_than_wait_for_the_client(session):
    session.configure(MANY)
    result = finish(session.execute("SELECT n FROM many"))
    wait_for(lambda: len(result._rows) == MOST_ROWS)
    assert len(rows_of(result)) == 12_000


def test_a_job_is_at_most_three_epochs_ahead_of_its_reader_unless_it_is_asked_for_something():
    sink = CollectQueueSink()
    requests: list[str] = []
    sink.goes_on = lambda: bool(requests)
    committer = sink.create_committer()
    committer.commit([1])
    committer.commit([2])
    for release in (sink.queue.get, lambda: requests.append("cancel")):
        waiting = threading.Thread(target=committer.commit, args=([3],), daemon=True)
        waiting.start()
        wait_for(lambda: sink.queue.qsize() == 3)
        waiting.join(0.1)
        assert waiting.is_alive()
        release()
        waiting.join(30)
        assert not waiting.is_alive()


def test_the_job_of_a_query_waits_for_its_client_until_it_is_cancelled(session):
    session.configure(ENDLESS)
    operation = session.execute("SELECT n FROM endless")
    finish(operation)
    sink = operation._submitted.rows._sink
    assert not sink.goes_on()
    operation.cancel()
    assert sink.goes_on()
    wait_for(lambda: not running_jobs())


def test_settings_of_a_statement_apply_to_it_alone(session):
    query = "SELECT n, COUNT(*) AS c FROM (VALUES (1), (1)) AS t(n) GROUP BY n"
    assert run(session, query, settings={"execution.runtime-mode": "BATCH"}) == [(1, 2)]
    assert run(session, query) == [(1, 1), (1, 1), (1, 2)]
    assert session.properties() == INLINE


def test_closing_an_operation_cancels_the_job_of_its_query(session):
    session.configure(ENDLESS)
    operation = session.execute("SELECT n FROM endless")
    assert len(finish(operation).page(0).rows) >= 0
    assert len(running_jobs()) == 1
    session.close_operation(operation.handle)
    wait_for(lambda: not running_jobs())
    with pytest.raises(GatewayError, match=operation.handle):
        session.operation(operation.handle)


def test_cancelling_an_operation_cancels_the_job_of_its_query(session):
    session.configure(ENDLESS)
    operation = session.execute("SELECT n FROM endless")
    finish(operation)
    operation.cancel()
    assert operation.status is OperationStatus.CANCELED
    wait_for(lambda: not running_jobs())
    with pytest.raises(GatewayError, match="CANCELED"):
        operation.page(0)


def test_cancelling_an_insert_that_is_waited_for_cancels_its_job(session):
    session.configure(ENDLESS)
    session.configure("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    session.configure("SET 'table.dml-sync' = 'true'")
    operation = session.execute("INSERT INTO nowhere SELECT n FROM endless")
    wait_for(running_jobs)
    assert operation.page(0) is None
    operation.cancel()
    wait_for(lambda: not running_jobs())
    assert operation.status is OperationStatus.CANCELED
    assert run(session, "SHOW CURRENT CATALOG") == [("default_catalog",)]


def test_a_statement_that_waits_for_another_can_be_cancelled(session):
    session.configure(ENDLESS)
    session.configure("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    first = session.execute("INSERT INTO nowhere SELECT n FROM endless", {"table.dml-sync": "true"})
    second = session.execute("CREATE VIEW v AS SELECT 1 AS n")
    second.cancel()
    first.cancel()
    assert run(session, "SHOW VIEWS") == []


def test_a_statement_that_takes_too_long_ends(session):
    session.configure(ENDLESS)
    session.configure("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    operation = session.execute("INSERT INTO nowhere SELECT n FROM endless", {"table.dml-sync": "true"}, timeout_ms=300)
    assert operation.wait(30)
    assert operation.status is OperationStatus.TIMEOUT
    wait_for(lambda: not running_jobs())


def test_the_job_of_an_insert_continues_when_its_session_ends(session):
    session.configure(ENDLESS)
    session.configure("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    result = finish(session.execute("INSERT INTO nowhere SELECT n FROM endless"))
    assert rows_of(result) == [(result.job_id,)]
    session.close()
    assert [entry.job_id for entry in running_jobs()] == [result.job_id]
    other = Session(INLINE)
    assert run(other, f"STOP JOB '{result.job_id}'") == [("OK",)]
    wait_for(lambda: not running_jobs())
    other.close()


def test_a_statement_set_runs_as_one_job(session):
    session.configure("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    assert run(session, "BEGIN STATEMENT SET") == [("OK",)]
    assert run(session, "INSERT INTO nowhere SELECT 1") == [("OK",)]
    with pytest.raises(SqlError, match="a statement set takes only INSERT"):
        run(session, "SELECT 1")
    result = finish(session.execute("END"))
    assert rows_of(result) == [(result.job_id,)]
    with pytest.raises(SqlError, match="no statement set has begun"):
        run(session, "END")


def test_an_error_of_a_statement_names_the_place(session):
    operation = session.execute("SELECT 1 AS n, nope")
    assert operation.wait(30)
    assert operation.status is OperationStatus.ERROR
    with pytest.raises(SqlError, match="Column 'nope' not found at line 1, column 16"):
        operation.page(0)


def test_an_error_of_a_job_comes_with_the_page(session):
    with pytest.raises(ArithmeticError, match="by zero"):
        run(session, "SELECT 1 / n AS x FROM (VALUES (0)) AS t(n)")


def test_a_session_is_configured_only_by_statements_that_change_it(session):
    session.configure("SET 'table.local-time-zone' = 'Europe/Zurich'")
    assert session.properties()["table.local-time-zone"] == "Europe/Zurich"
    with pytest.raises(GatewayError, match="SELECT does not configure a session"):
        session.configure("SELECT 1")
    with pytest.raises(SqlError, match="Object 'nope' not found"):
        session.configure("CREATE VIEW v AS SELECT * FROM nope")


def test_a_wrong_value_of_a_setting_is_refused_and_the_session_continues(session):
    with pytest.raises(SqlError, match=r"SET at line 1, column 32: 'execution.runtime-mode' must be one of"):
        session.configure("SET 'execution.runtime-mode' = 'nope'")
    assert run(session, "SHOW CURRENT CATALOG", timeout_ms=10**20) == [("default_catalog",)]
    with pytest.raises(ValueError, match="must be one of"):
        run(session, "SELECT 1 AS n", settings={"execution.runtime-mode": "nope"})
    assert run(session, "SELECT 1 AS n") == [(1,)]
    with pytest.raises(ValueError, match="must be one of"):
        Gateway(INLINE).open({"execution.runtime-mode": "nope"})


def test_sessions_have_catalogs_and_settings_of_their_own():
    gateway = Gateway(INLINE)
    first, second = gateway.open({}), gateway.open({"table.local-time-zone": "UTC"})
    first.configure("CREATE VIEW v AS SELECT 1 AS n")
    assert run(first, "SHOW VIEWS") == [("v",)]
    assert run(second, "SHOW VIEWS") == []
    assert second.properties() == {**INLINE, "table.local-time-zone": "UTC"}
    gateway.close_all()


def test_a_session_belongs_to_who_opened_it():
    gateway = Gateway(INLINE)
    handle = gateway.open({}, owner="alice").handle
    assert gateway.session(handle, "alice").handle == handle
    with pytest.raises(GatewayError, match="does not exist"):
        gateway.session(handle, "bob")
    with pytest.raises(GatewayError, match="does not exist"):
        gateway.close(handle, "bob")
    gateway.close(handle, "alice")


def test_an_idle_session_ends_with_the_jobs_of_its_queries():
    clock = Clock()
    gateway = Gateway({**INLINE, "sql-gateway.session.idle-timeout": "60000 ms"}, clock)
    idle, used = gateway.open({}), gateway.open({})
    idle.configure(ENDLESS)
    finish(idle.execute("SELECT n FROM endless"))
    clock.seconds = 50
    gateway.session(used.handle)
    clock.seconds = 61
    gateway.end_idle()
    assert gateway.session(used.handle) is used
    with pytest.raises(GatewayError, match="does not exist"):
        gateway.session(idle.handle)
    wait_for(lambda: not running_jobs())
    gateway.close_all()


def test_a_session_stays_if_the_idle_timeout_is_zero():
    clock = Clock()
    gateway = Gateway({**INLINE, "sql-gateway.session.idle-timeout": "0 s"}, clock)
    session = gateway.open({})
    clock.seconds = 1e9
    gateway.end_idle()
    assert gateway.session(session.handle) is session
    gateway.close_all()


def test_there_are_only_so_many_sessions():
    gateway = Gateway({**INLINE, "sql-gateway.session.max-num": "1"})
    gateway.open({})
    with pytest.raises(GatewayError, match=r"raise 'sql-gateway.session.max-num' to allow more"):
        gateway.open({})
    gateway.close_all()


def test_the_oldest_operation_whose_rows_were_read_is_forgotten(session, monkeypatch):
    monkeypatch.setattr("flintstream.sql_gateway.sessions.MOST_OPERATIONS", 2)
    first, second = session.execute("SHOW CATALOGS"), session.execute("SHOW CATALOGS")
    finish(first)
    finish(second)
    with pytest.raises(GatewayError, match="2 open operations"):
        session.execute("SHOW CATALOGS")
    rows_of(first.require_success())
    finish(session.execute("SHOW CATALOGS"))
    with pytest.raises(GatewayError):
        session.operation(first.handle)
    assert session.operation(second.handle) is second
