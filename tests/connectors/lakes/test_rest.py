"""Tables of Iceberg's own REST server are made, written and read, with a credential or a token that nothing shows."""

from __future__ import annotations

import pytest

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed: make setup")

from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.connectors.lakes.rest import CREDENTIAL, FIXED, ISSUED, PREFIX, SCOPE, NoServerError, Server
from tests.connectors.lakes.test_sinks import Commits, Token
from tests.engine.faults import Faults

from flintstream.connectors.lakes.iceberg import IcebergCommitter
from flintstream.connectors.lakes.writer import LakeError
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.lakes import IcebergSink
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]

PAIR = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])
SECRETS = (CREDENTIAL[1], FIXED, ISSUED)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    try:
        found = Server(tmp_path_factory.mktemp("rest"))
    except NoServerError as error:
        pytest.skip(f"no REST catalog on this machine: {error}")
    yield found
    found.close()


def with_credential(server, secret=CREDENTIAL[1]):
    return {
        "uri": server.uri,
        "credential": f"{CREDENTIAL[0]}:{secret}",
        "oauth2-server-uri": server.tokens,
        "scope": SCOPE,
        "prefix": PREFIX,
        "warehouse": "shops",
    }


def with_token(server, token=FIXED):
    return {"uri": server.uri, "token": token, "prefix": PREFIX}


def catalog(options):
    """Return an environment with the catalog."""
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.engine", "inline")
    given = ", ".join(f"'{key}' = '{text}'" for key, text in options.items())
    t_env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'rest', {given})")
    return t_env


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return sorted(tuple(row) for row in found)


@pytest.mark.parametrize("options", [with_credential, with_token])
def test_statements_make_fill_change_and_drop_a_table(server, options):
    t_env = catalog(options(server))
    t_env.execute_sql("CREATE DATABASE lake.shop")
    t_env.execute_sql("CREATE TABLE lake.shop.orders (id BIGINT NOT NULL, item STRING) PARTITIONED BY (item)")
    t_env.execute_sql("INSERT INTO lake.shop.orders VALUES (1, 'tea'), (2, 'mug')").wait()
    assert rows(t_env, "SELECT * FROM lake.shop.orders WHERE item = 'mug'") == [(2, "mug")]
    t_env.execute_sql("ALTER TABLE lake.shop.orders ADD (more INT)")
    again = catalog(options(server))
    assert rows(again, "SELECT * FROM lake.shop.orders") == [(1, "tea", None), (2, "mug", None)]
    assert rows(again, "SHOW TABLES FROM lake.shop") == [("orders",)]
    again.execute_sql("DROP TABLE lake.shop.orders")
    again.execute_sql("DROP DATABASE lake.shop")
    assert ("shop",) not in rows(t_env, "SHOW DATABASES FROM lake")
    if options is with_credential:
        assert ("POST", "/tokens") in server.requests


@pytest.mark.kills
def test_each_record_is_there_once_whatever_fails(server, tmp_path, monkeypatch):
    commits = Commits(monkeypatch, IcebergCommitter)
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 299)])
    env = checkpointed(tmp_path, 2)
    numbers = env.from_source(NumberSequenceSource(0, 499), NO_WATERMARKS, "numbers")
    sink = IcebergSink("shop.numbers", PAIR, {"type": "rest", **with_credential(server)})
    numbers.map(Token(faults)).sink_to(sink)
    env.execute()
    t_env = catalog(with_token(server))
    assert [row[0] for row in rows(t_env, "SELECT id FROM lake.shop.numbers")] == list(range(500))
    assert faults.happened() == faults.planned()
    assert commits.count > 2


def test_secrets_are_in_no_text(server, capsys, caplog):
    made = {"type": "rest", **with_credential(server)}
    sink = IcebergSink("shop.secret", PAIR, made)
    t_env = catalog(with_credential(server))
    sink.create_committer()
    texts = [repr(sink), repr(sink._output), repr(sink.create_committer())]
    query = "SELECT * FROM lake.shop.secret"
    texts += [t_env.explain_sql(query), repr(t_env.sql_query(query)), str(t_env.from_path("lake.shop.secret"))]
    for statement in ("DESCRIBE lake.shop.secret", "SHOW CREATE TABLE lake.shop.secret", "SHOW CREATE CATALOG lake",
                      "DESCRIBE CATALOG EXTENDED lake"):  # fmt: skip
        texts.append(str([tuple(row) for row in t_env.execute_sql(statement).collect()]))
    with pytest.raises(LakeError) as error:
        IcebergSink("shop.t", PAIR, {"type": "rest", **with_credential(server, "wrong-very-secret")}).create_committer()
    texts.append(str(error.value))
    with pytest.raises(SqlError) as failed:
        catalog(with_token(server, "wrong-very-secret-token")).execute_sql("SHOW DATABASES FROM lake")
    texts.append(str(failed.value))
    with pytest.raises(SqlError, match="catalog 'lake'") as away:
        catalog(with_token(server) | {"uri": "http://127.0.0.1:9"})
    texts += [str(away.value), caplog.text, *capsys.readouterr()]
    for text in texts:
        assert "very-secret" not in text
