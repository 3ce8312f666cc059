"""Tables of Elasticsearch: rows become documents, those of a key replace and delete each other."""

from __future__ import annotations

import logging

import pytest

pytest.importorskip("urllib3", reason="the extra 'elasticsearch' is not installed: make setup")

from tests.connectors.test_elasticsearch import Fake

from flintstream.table._errors import SqlError


@pytest.fixture
def server():
    found = Fake()
    yield found
    found.close()


def declare(t_env, server, columns, more=None):
    options = {"connector": "elasticsearch-7", "hosts": f"http://{server.host}", "index": "users", **(more or {})}
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({given})")


def kept(server):
    """Return the documents that the requests leave, by index and id."""
    found: dict[tuple[str, str], object] = {}
    for target, content in server.documents:
        place = (target["_index"], target["_id"])
        if content is None:
            found.pop(place, None)
        else:
            found[place] = content["doc"]
    return found


def test_rows_without_a_key_are_new_documents(t_env, server):
    declare(t_env, server, "id INT, name STRING, tags ARRAY<STRING>")
    t_env.execute_sql("INSERT INTO t VALUES (1, 'ann', ARRAY['a']), (1, CAST(NULL AS STRING), ARRAY['b'])").wait()
    assert server.documents == [
        ({"_index": "users"}, {"id": 1, "name": "ann", "tags": ["a"]}),
        ({"_index": "users"}, {"id": 1, "name": None, "tags": ["b"]}),
    ]


@pytest.mark.parametrize("connector", ["elasticsearch-7", "elasticsearch-8", "opensearch", "opensearch-2"])
def test_rows_of_a_key_replace_each_other(t_env, server, connector):
    columns = "k STRING, day DATE, n BIGINT, PRIMARY KEY (k, day) NOT ENFORCED"
    declare(t_env, server, columns, {"connector": connector, "document-id.key-delimiter": "$"})
    rows = ", ".join(f"('{k}', DATE '2024-05-01')" for k in "abaacb")
    t_env.execute_sql(
        f"INSERT INTO t SELECT k, day, COUNT(*) FROM (VALUES {rows}) AS T(k, day) GROUP BY k, day HAVING COUNT(*) < 3"
    ).wait()
    assert kept(server) == {
        ("users", "b$2024-05-01"): {"k": "b", "day": "2024-05-01", "n": 2},
        ("users", "c$2024-05-01"): {"k": "c", "day": "2024-05-01", "n": 1},
    }


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("users-{at|yyyy-MM}", "users-2024-05"),
        ("u-{at}", "u-2024_05_01_12_30_00"),
        ("{day}-{id}", "2024_05_01-7"),
        ("{name}", "null"),
    ],
)
def test_the_name_of_the_index_shows_columns(t_env, server, index, expected):
    columns = "id INT, name STRING, day DATE, at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED"
    declare(t_env, server, columns, {"index": index})
    row = "7, CAST(NULL AS STRING), DATE '2024-05-01', TIMESTAMP '2024-05-01 12:30:00'"
    t_env.execute_sql(f"INSERT INTO t VALUES ({row})").wait()
    assert [target["_index"] for target, _ in server.documents] == [expected]


def test_the_name_of_the_index_shows_the_clock(t_env, server):
    declare(t_env, server, "id INT", {"index": "log-{now()|yyyy}"})
    t_env.execute_sql("INSERT INTO t VALUES (1)").wait()
    ((target, _),) = server.documents
    assert target["_index"].startswith("log-2")
    assert len(target["_index"]) == 8


def test_version_6_has_a_type_and_credentials_are_sent(t_env, server):
    more = {"connector": "elasticsearch-6", "document-type": "user", "username": "me", "password": "secret"}
    more |= {"connection.path-prefix": "search", "connection.timeout": "5s", "socket.timeout": "30s"}
    declare(t_env, server, "id INT", more)
    t_env.execute_sql("INSERT INTO t VALUES (1)").wait()
    assert server.documents == [({"_index": "users", "_type": "user"}, {"id": 1})]
    path, credentials, _ = server.requests[0]
    assert (path, credentials) == ("/search/_bulk", "Basic bWU6c2VjcmV0")


def test_refused_documents_fail_the_job_unless_they_are_ignored(t_env, server, caplog):
    columns = "id INT, PRIMARY KEY (id) NOT ENFORCED"
    server.codes.update({"1": 400})
    declare(t_env, server, columns)
    with pytest.raises(Exception, match="rejected the document"):
        t_env.execute_sql("INSERT INTO t VALUES (1), (2)").wait()
    server.documents.clear()
    server.codes.update({"1": 400})
    t_env.execute_sql("DROP TABLE t")
    declare(t_env, server, columns, {"failure-handler": "ignore"})
    with caplog.at_level(logging.WARNING, "flintstream.connectors.elasticsearch"):
        t_env.execute_sql("INSERT INTO t VALUES (1), (2)").wait()
    assert kept(server) == {("users", "2"): {"id": 2}}
    assert "rejected the document" in caplog.text


def test_an_overloaded_server_gets_the_documents_again(t_env, server):
    server.answers += [429, 503]
    more = {"backoff.strategy": "EXPONENTIAL", "backoff.max-retries": "3", "backoff.delay": "1ms"}
    more |= {"max-actions": "2", "max-size": "1kb"}
    declare(t_env, server, "id INT", {f"sink.bulk-flush.{key}": value for key, value in more.items()})
    t_env.execute_sql("INSERT INTO t VALUES (1), (2), (3)").wait()
    assert sorted(content["id"] for _, content in server.documents) == [1, 2, 3]
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        ("id INT", {"index": "{no}"}, "unknown column 'no' in the name of the index"),
        ("id INT", {"index": "{id|yyyy}"}, "has a pattern for column 'id', which is not a time"),
        ("id INT, PRIMARY KEY (id) NOT ENFORCED", {"index": "{now()}"}, "needs a table without a primary key"),
        ("id ARRAY<INT> NOT NULL, PRIMARY KEY (id) NOT ENFORCED", {}, "cannot be in the primary key"),
        ("id INT", {"failure-handler": "ignor"}, "did you mean 'ignore'"),
        ("id INT", {"hosts": "ftp://a"}, "an Elasticsearch host must be"),
        ("id INT", {"connector": "elasticsearch-6"}, "the option 'document-type' is missing"),
        ("id INT", {"sink.bulk-flush.backoff.strategy": "NEVER"}, "does not accept 'NEVER'"),
    ],
)
def test_options_that_cannot_work_are_refused(t_env, server, columns, more, message):
    declare(t_env, server, columns, more)
    with pytest.raises(SqlError, match=message.replace("(", r"\(").replace(")", r"\)")):
        t_env.execute_sql(f"INSERT INTO t VALUES ({'ARRAY[1]' if 'ARRAY' in columns else '1'})")
