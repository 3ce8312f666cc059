"""Options that are accepted or refused when the program is built."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import pytest
from tests.connectors.jdbc.jobs import PAIR, execution, options, sqlite_sink

from flintstream.common import Types
from flintstream.connectors.jdbc import register_jdbc_url, urls
from flintstream.datastream.connectors import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from flintstream.datastream.functions import SinkFunction
from flintstream.errors import MissingDependencyError, PlanError

database_of: Any = urls.database_of
Builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder
INSERT = "INSERT INTO t VALUES (?, ?)"
ANYTHING: Any = 5


def test_options_return_what_was_set():
    built = (
        Builder()
        .with_url("jdbc:postgresql://db/shop")
        .with_driver_name("org.postgresql.Driver")
        .with_user_name("me")
        .with_password("abc")
        .build()
    )
    assert built.get_db_url() == "jdbc:postgresql://db/shop"
    assert built.get_driver_name() == "org.postgresql.Driver"
    assert (built.get_user_name(), built.get_password()) == ("me", "abc")
    few = options("jdbc:sqlite:a.db")
    assert (few.get_driver_name(), few.get_user_name(), few.get_password()) == (None, None, None)


def test_the_defaults_of_execution_are_flinks():
    default = JdbcExecutionOptions.defaults()
    assert (default.get_batch_size(), default.get_batch_interval_ms(), default.get_max_retries()) == (5000, 0, 3)
    assert JdbcExecutionOptions.builder().build() == default
    own = execution(1, 2, 0)
    assert (own.get_batch_size(), own.get_batch_interval_ms(), own.get_max_retries()) == (1, 2, 0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Builder().build(), "need a URL"),
        (lambda: Builder().with_url(""), "the URL must be a str"),
        (lambda: Builder().with_password(ANYTHING), "the password must be a str, got a value of type int"),
        (lambda: Builder().with_connection_check_timeout_seconds(0), "must be at least 1"),
        (lambda: execution(size="5"), "must be a whole number"),
        (lambda: execution(interval_ms=-1), "batch interval"),
        (lambda: execution(retries=-1), "number of retries"),
        (lambda: JdbcSink.sink(INSERT, PAIR, ANYTHING), "expected JdbcConnectionOptions"),
        (lambda: JdbcSink.sink(INSERT, PAIR, options("jdbc:sqlite:a.db"), ANYTHING), "expected JdbcExecutionOptions"),
        (lambda: JdbcSink.sink(INSERT, ANYTHING, options("jdbc:sqlite:a.db")), "must be one of Types"),
        (lambda: JdbcSink(ANYTHING), "create a JdbcSink with JdbcSink.sink"),
    ],
)
def test_bad_options_are_refused(build, message):
    with pytest.raises((TypeError, ValueError), match=message):
        build()


def test_a_sink_is_a_sink_function_as_in_pyflink(tmp_path):
    assert isinstance(sqlite_sink(tmp_path / "a.db", INSERT, PAIR), SinkFunction)


@pytest.mark.parametrize("type_info", [Types.ROW([Types.INT()]), Types.TUPLE([Types.INT()] * 3), Types.INT()])
def test_as_many_placeholders_are_needed_as_the_type_has_values(tmp_path, type_info):
    with pytest.raises(PlanError, match=r"the statement has 2 placeholders, but records of type .* have [13] values"):
        sqlite_sink(tmp_path / "a.db", INSERT, type_info)


@pytest.mark.parametrize(
    ("type_info", "message"),
    [
        (Types.MAP(Types.STRING(), Types.INT()), "field 1 of .* which fits no column"),
        (PAIR, "field 1 of .* which fits no column"),
        (Types.LIST(Types.INT()), "has no arrays"),
        (Types.BASIC_ARRAY(Types.INT()), "has no arrays"),
    ],
)
def test_a_type_without_a_column_is_refused(tmp_path, type_info, message):
    with pytest.raises(PlanError, match=message):
        sqlite_sink(tmp_path / "a.db", INSERT, Types.ROW([Types.INT(), type_info]))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "jdbc:nonsense:a",
            "is not a supported JDBC URL: supported are jdbc:sqlite:, jdbc:postgresql:, jdbc:mysql:, jdbc:mariadb:",
        ),
        ("nonsense", "neither a JDBC URL nor an SQLAlchemy URL"),
        ("nonsense://a/b", "SQLAlchemy has no dialect"),
        ("jdbc:sqlite:", "has no file"),
        ("jdbc:sqlite::memory:", "has no file"),
        ("jdbc:sqlite:a.db?journal=wal", "the parameter 'journal' has no counterpart"),
        ("jdbc:sqlite:a.db?journal_mode=a;b", "'a;b' is not a valid value of the parameter 'journal_mode'"),
        ("jdbc:sqlite:a.db?date_class=integer", "'integer' is not a valid value"),
        ("jdbc:postgresql://a:b/c", "must have the form jdbc:postgresql://host:port/database"),
        ("jdbc:postgresql://a/c?targetServerType=none", "'none' is not a valid value"),
        ("jdbc:postgresql://a/c?connectTimeout=soon", "'soon' is not a valid value"),
        ("jdbc:postgresql://a/c?user=a&user=b", "the parameter 'user' appears twice"),
        ("jdbc:postgresql://a/c?user", "the parameter 'user' has no value"),
        ("jdbc:postgresql://a/c?password=abc&nonsense=1", "'nonsense' has no counterpart"),
        ("jdbc:mysql://a,b/c", "with one host"),
        ("jdbc:mysql:loadbalance://a/c", "the URL must have the form"),
        ("jdbc:mysql://a/c?serverTimezone=Mars", "'Mars' is not a valid value"),
        ("jdbc:mysql://a/c?trustCertificateKeyStoreUrl=file:a", "has no counterpart"),
    ],
)
def test_a_url_that_is_not_understood_is_refused(url, message):
    with pytest.raises(PlanError, match=message) as caught:
        options(url)
    assert "abc" not in str(caught.value)


def test_the_driver_in_java_must_be_for_the_url():
    options("jdbc:mysql://a/b").get_driver_name()
    with pytest.raises(PlanError, match=r"org.sqlite.JDBC is not the driver for jdbc:mysql://a/b"):
        Builder().with_url("jdbc:mysql://a/b").with_driver_name("org.sqlite.JDBC").build()
    named = Builder().with_url("jdbc:mysql://a/b").with_driver_name("com.example.Driver").build()
    assert named.get_driver_name() == "com.example.Driver"


def test_user_and_password_may_be_in_the_url_or_beside_it_but_not_be_two():
    for url in ("jdbc:postgresql://db/shop?user=me&password=a%26b", "jdbc:mysql://me:a%26b@db/shop"):
        for user, password in ((None, None), ("me", "a&b")):
            database = database_of(url, user, password)
            assert (database.user, database.password) == ("me", "a&b")
        with pytest.raises(PlanError, match="a different password than the one given separately") as caught:
            database_of(url, "me", "other")
        assert "a%26b" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("jdbc:postgresql:shop", {"host": "localhost", "port": "5432", "dbname": "shop"}),
        ("jdbc:postgresql://db", {"host": "db"}),
        ("jdbc:postgresql://db:1/a%20b", {"port": "1", "dbname": "a b"}),
        ("jdbc:postgresql://a:1,b,[::1]:2/c", {"host": "a,b,::1", "port": "1,5432,2"}),
        ("jdbc:postgresql://db/c", {"options": "-c TimeZone=UTC", "connect_timeout": 60}),
        ("jdbc:postgresql://db/c?currentSchema=a,b%20c", {"options": r"-c TimeZone=UTC -c search_path=a,b\ c"}),
        ("jdbc:postgresql://db/c?options=-c%20TimeZone=Asia/Tokyo", {"options": "-c TimeZone=Asia/Tokyo"}),
        ("jdbc:postgresql://db/c?ssl=true", {"sslmode": "verify-full"}),
        ("jdbc:postgresql://db/c?sslmode=require&sslrootcert=/a", {"sslmode": "require", "sslrootcert": "/a"}),
        (
            "jdbc:postgresql://db/c?ApplicationName=me&connectTimeout=5",
            {"application_name": "me", "connect_timeout": 5},
        ),
        ("jdbc:postgresql://db/c?socketTimeout=5&tcpKeepAlive=true", {"tcp_user_timeout": 5000, "keepalives": 1}),
        ("jdbc:postgresql://a,b/c?targetServerType=master", {"target_session_attrs": "primary"}),
        ("jdbc:postgresql://db/c?reWriteBatchedInserts=true&stringtype=unspecified", {"host": "db"}),
        ("jdbc:mysql://db/shop", {"host": "db", "port": 3306, "database": "shop", "charset": "utf8mb4"}),
        ("jdbc:mariadb://[::1]:1/", {"host": "::1", "port": 1}),
        ("jdbc:mysql://db/a?useSSL=false&allowPublicKeyRetrieval=true", {"init_command": "SET time_zone = '+00:00'"}),
        ("jdbc:mysql://db/a?sessionVariables=a=1", {"init_command": "SET time_zone = '+00:00', a=1"}),
        ("jdbc:mysql://db/a?connectTimeout=1500&socketTimeout=0", {"connect_timeout": 2, "read_timeout": None}),
        ("jdbc:mysql://db/a?serverTimezone=Asia/Tokyo", {"init_command": None}),
        ("jdbc:mysql://db/a?characterEncoding=UTF-8&connectionCollation=x", {"charset": "utf8mb4", "collation": "x"}),
    ],
)
def test_a_url_says_what_the_driver_is_told(url, expected):
    arguments = database_of(url).arguments
    assert {name: arguments.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("parameters", "tls"),
    [
        ("", "preferred"),
        ("?useSSL=false", "disabled"),
        ("?requireSSL=true", "required"),
        ("?sslMode=VERIFY_CA", "authority"),
        ("?sslMode=verify-full", "identity"),
    ],
)
def test_tls_to_mysql_is_as_strict_as_the_url_says(parameters, tls):
    assert database_of(f"jdbc:mysql://db/shop{parameters}").tls == tls


def test_certificates_of_mysql_are_verified_when_the_url_says_so():
    context = {
        mode: database_of(f"jdbc:mysql://db/a?sslMode={mode}")._tls_arguments()["ssl"]
        for mode in ("REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
    }
    assert [(c.verify_mode.name, c.check_hostname) for c in context.values()] == [
        ("CERT_NONE", False),
        ("CERT_REQUIRED", False),
        ("CERT_REQUIRED", True),
    ]


def test_a_file_is_that_of_the_directory_where_the_program_is_built(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    database = database_of("jdbc:sqlite:file:a.db?journal_mode=WAL")
    monkeypatch.chdir("/")
    assert database.path == str(tmp_path / "a.db")
    database.connect().close()
    assert (tmp_path / "a.db").exists()


def test_a_directory_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PlanError, match="does not exist"):
        sqlite_sink(tmp_path / "no" / "a.db", INSERT, PAIR)


@pytest.mark.parametrize(
    ("url", "module", "command"),
    [
        ("jdbc:postgresql://db/shop", "psycopg", r"pip install 'flintstream\[postgresql\]'"),
        ("jdbc:mysql://db/shop", "pymysql", r"pip install 'flintstream\[mysql\]'"),
        ("sqlite:///a.db", "sqlalchemy", r"pip install 'flintstream\[jdbc\]'"),
        ("mysql+mysqldb://db/shop", "MySQLdb", "pip install MySQLdb"),
    ],
)
def test_a_driver_that_is_not_installed_is_named_when_the_program_is_built(monkeypatch, url, module, command):
    known = importlib.import_module

    def missing(name, *more, **named):
        if name == module:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return known(name, *more, **named)

    monkeypatch.setattr(importlib, "import_module", missing)
    monkeypatch.setattr("flintstream.connectors.jdbc.database.import_module", missing)
    with pytest.raises(MissingDependencyError, match=command):
        JdbcSink.sink(INSERT, PAIR, options(url))


def test_other_urls_can_be_registered(monkeypatch, tmp_path):
    monkeypatch.setattr(urls, "_registered", {})
    register_jdbc_url("jdbc:other:", lambda url: url.replace("jdbc:other:", "sqlite:///"))
    register_jdbc_url("jdbc:other:special:", lambda url: "sqlite:////special")
    assert database_of(f"jdbc:other:{tmp_path}/a.db").url == f"sqlite:///{tmp_path}/a.db"
    assert database_of("jdbc:other:special:a").url == "sqlite:////special"
    with pytest.raises(TypeError, match="a prefix such as"):
        register_jdbc_url("other", str)


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://db/shop?user=me&password=s%2Fecret&sslpassword=s/ecret",
        "jdbc:mysql://me:s%2Fecret@db/shop?useSSL=false",
        "postgresql+psycopg://me:s%2Fecret@db/shop",
    ],
)
def test_no_password_is_shown(url):
    built = options(url)
    sink = JdbcSink.sink(INSERT, PAIR, built)
    shown = " ".join(map(repr, (built, sink, sink._output, built._database, vars(sink))))
    assert "s/ecret" not in shown
    assert "s%2Fecret" not in shown
    assert pickle.loads(pickle.dumps(sink))._output.database.password == "s/ecret"  # noqa: S105 - a task needs it
