"""A random secret, planted wherever a password can be written, is in nothing that people read."""

from __future__ import annotations

import json
import logging
import re
import string
import traceback
import uuid
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.waiting import wait_for

from flintstream.cli import main
from flintstream.common import Configuration
from flintstream.common._text.secrets import (
    SECRET_KEYS,
    SECRETS_OF_URLS,
    hide_secrets,
    is_secret,
    shown_path,
    without_secrets,
)
from flintstream.connectors.formats.schema_registry import SchemaRegistry
from flintstream.coordinator.monitoring import recent_log
from flintstream.coordinator.monitoring.descriptions import record_of
from flintstream.coordinator.monitoring.error_text import describe
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.jdbc import JdbcConnectionOptions
from flintstream.errors import MissingDependencyError, PlanError
from flintstream.rest import jobs
from flintstream.storage.location import Location


def words(*lines):
    return " ".join(lines).split()


SECRET_NAMES = words(
    "password db.password sasl.password DB_PASSWORD dbPassword trustStorePassword passwd ssl.passphrase pwd",
    "db.pwd DB_PWD dbPwd MYSQL_PWD UID.PWD pass db.pass secret client-secret fs.s3a.secret.key clientSecret token",
    "auth_token oauth.token refreshToken access-token delegation.tokens api-key apiKey api_key fs.s3a.access.key",
    "fs.azure.account.key.acct.dfs.core.windows.net private.key sas",
    "fs.azure.sas.container.acct.blob.core.windows.net azure.sas azureSas SAS bearer http.bearer dsn sentry.dsn",
    "SENTRY_DSN sentryDsn auth registry.auth docker_auth httpAuth authorization Authorization Proxy-Authorization",
    "http.header.authorization cookie Cookie cookies Set-Cookie session-cookie sessionCookie jwt id.jwt sig",
    "signature X-Amz-Signature X-Amz-Credential X-Amz-Security-Token sasl.jaas.config ssl.keystore.key",
    "ssl.key.pem basic.auth.user.info schema.registry.basic.auth.user.info avro-confluent.basic-auth.user-info",
    "value.avro-confluent.bearer-auth.token credentials azure.connection-string connection.string",
)

PLAIN_NAMES = words(
    "author authors authority book.author auth.type auth.mechanism spark.authenticate authentication-enabled",
    "security.protocol sasl.mechanism tokenizer tokenizer.type tokenization max.tokens max-tokens num_tokens",
    "token.count tokens-per-second token-rate user username login key key.format keyed primary.key key.fields",
    "compass passenger bypass passive pass.through design signal signature.version sasl sasquatch dsname",
    "bearer-type forbearer cookie.domain cookies.enabled secretary fs.s3a.aws.credentials.provider",
    "basic-auth.credentials-source bearer-auth.credentials-source ssl.client.auth table.exec.state.ttl",
    "parallelism.default execution.checkpointing.interval pipeline.name restart-strategy.type connector topic",
)

URLS = [
    "jdbc:oracle:thin:u/SECRET@host",
    "jdbc:oracle:thin:u/SECRET@//host:1521/service",
    "jdbc:oracle:oci:u/SECRET@tns",
    "jdbc:postgresql://db/shop?user=me&password=SECRET&sslmode=require",
    "jdbc:postgresql://me:SECRET@db/shop",
    "mongodb://db/shop?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:SECRET",
    "jdbc:mysql://me:SECRET@db:3306/shop",
    "jdbc:mysql://address=(host=db)(user=me)(password=SECRET)/shop",
    "jdbc:mariadb://db/shop?user=me&pwd=SECRET",
    "jdbc:sqlserver://db:1433;databaseName=shop;user=me;password=SECRET;encrypt=true",
    "jdbc:sqlserver://db;password={SECRET}",
    "jdbc:db2://db:50000/shop:user=me;password=SECRET;",
    "jdbc:teradata://db/USER=me,PASSWORD=SECRET",
    "jdbc:snowflake://acct.snowflakecomputing.com/?user=me&password=SECRET&db=x",
    "jdbc:h2:mem:shop;USER=sa;PASSWORD=SECRET",
    "oracle+oracledb://me:SECRET@db/?service_name=x",
    "mysql+pymysql://me:SECRET@db/shop",
    "postgresql+psycopg://me:SECRET@db/shop",
    "amqp://me:SECRET@rabbit/vhost",
    "amqps://me:SECRET@rabbit",
    "redis://:SECRET@cache:6379/0",
    "rediss://cache?password=SECRET",
    "mongodb+srv://me:SECRET@cluster/x",
    "nats://me:SECRET@bus",
    "kafka://me:SECRET@broker",
    "ftp://me:SECRET@host/in",
    "schema://me:SECRET@registry",
    "http://me:SECRET@registry:8081",
    "https://SECRET@github.com/x.git",
    "https://host/in?v=1&sig=SECRET",
    "https://acct.blob.core.windows.net/c/b?sv=1&sig=SECRET&se=2",
    "https://host/in?X-Amz-Credential=a&X-Amz-Signature=SECRET",
    "https://host/in?access_token=SECRET",
    "https://host/in?sas=SECRET",
    "sc://host:15002/;user_id=me;token=SECRET;x=y",
    "//me:SECRET@host/x",
]

TEXTS = [
    "Authorization: Basic SECRET",
    "Authorization: Bearer SECRET",
    "authorization=Bearer SECRET",
    "{'Authorization': 'Bearer SECRET'}",
    '{"password": "SECRET", "user": "me"}',
    "{'db': {'password': 'SECRET'}}",
    "Cookie: SECRET",
    "Set-Cookie: SECRET; Path=/",
    "X-Api-Key: SECRET",
    'PlainLoginModule required username="me" password="SECRET";',
    "host=db user=me password=SECRET dbname=shop",
    "host=db password='SECRET' dbname=shop",
    "DRIVER={x};SERVER=db;UID=sa;PWD=SECRET",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=SECRET;EndpointSuffix=x",
    "SharedAccessSignature=SECRET",
    "-Dsome.trustStorePassword=SECRET -Xmx1g",
    "run --password SECRET --parallelism 3",
    "run --db-token SECRET",
    "run --password=SECRET",
    "curl -u x -H 'Authorization: Bearer SECRET'",
    "'password' = 'SECRET'",
]

SECRETS = st.text(string.ascii_letters + string.digits + "-._~!+", min_size=12, max_size=30).map(lambda s: f"Zq{s}9x")
ODD_SECRETS = st.text(string.ascii_letters + string.digits + "-._~!$'()*+,:@/% ", min_size=4, max_size=20).map(
    lambda s: f"Zq{s}9x"
)


def hides(text, secret):
    return secret not in text and (len(secret) < 12 or secret[3:-3] not in text)


@pytest.mark.promise("S22")
@pytest.mark.parametrize("key", SECRET_NAMES)
def test_the_value_of_a_key_that_names_a_secret_is_hidden(key):
    assert is_secret(key)
    assert hide_secrets({key: "x"}) == {key: "***"}
    assert re.search(SECRET_KEYS, key), "Spark takes the pattern alone"


@pytest.mark.parametrize("key", PLAIN_NAMES)
def test_a_key_that_only_looks_like_one_of_a_secret_stays_readable(key):
    assert not is_secret(key)
    assert hide_secrets({key: "plain value"}) == {key: "plain value"}


@pytest.mark.parametrize(
    "text",
    [
        "https://host:80/file?user=a@b",
        "jdbc:oracle:thin:@//host:1521/shop",
        "abfs://container@account/x",
        "Unexpected token: 'FROM' at line 1, column 8",
        "the author = Ann and the authority: Bern",
        "tokenizer=standard max_tokens=4096 auth.type=simple",
        "see http://localhost:8081/#/job and me@example.com",
        "count:3,limit:5",
        "12:30:05,123 INFO user=me topic=orders",
        "a basic error, a bearer of news",
        "ls -l /home/sas/pass",
    ],
)
def test_a_text_without_secrets_stays_as_it_is(text):
    assert without_secrets(text) == text
    assert hide_secrets({"x": text}) == {"x": text}


@pytest.mark.promise("S22")
@pytest.mark.parametrize("form", URLS)
@given(secret=SECRETS)
@settings(max_examples=20, deadline=None)
def test_the_password_of_a_url_is_hidden_alone_and_within_a_text(form, secret):
    url = form.replace("SECRET", secret)
    for text in (
        url,
        f"cannot reach {url}",
        f"cannot reach '{url}': no route\nCaused by: {url}",
        f'{{"url": "{url}"}}',
    ):
        assert hides(without_secrets(text), secret)
    assert hides(str(hide_secrets({"url": url})), secret)
    assert hides(str(hide_secrets({"pipeline.global-job-parameters": f"city:Bern,url:'{url}'"})), secret)
    assert without_secrets(without_secrets(url)) == without_secrets(url)


@pytest.mark.parametrize("form", [form for form in URLS if "?" not in form and ";" not in form and "," not in form])
@given(secret=ODD_SECRETS)
@settings(max_examples=20, deadline=None)
def test_a_url_that_is_alone_may_have_any_sign_in_its_password(form, secret):
    if "(" in form or form.startswith("https://SECRET"):
        secret = re.sub(r"[^\w]", "", secret)
    assert hides(without_secrets(form.replace("SECRET", secret)), secret)


@pytest.mark.parametrize("form", TEXTS)
@given(secret=SECRETS)
@settings(max_examples=20, deadline=None)
def test_the_secret_in_a_header_an_argument_or_an_assignment_is_hidden(form, secret):
    text = form.replace("SECRET", secret)
    assert hides(without_secrets(text), secret)
    assert hides(without_secrets(f"sending failed: {text}\nand more"), secret)


@pytest.mark.parametrize("key", SECRET_NAMES)
def test_the_secrets_among_job_parameters_are_hidden_and_the_others_are_not(key):
    secret = uuid.uuid4().hex
    value = f"city:Bern,{key}:{secret},limit:3"
    told = hide_secrets({"pipeline.global-job-parameters": value, f"pipeline.global-job-parameters.{key}": secret})
    assert secret not in str(told)
    assert told["pipeline.global-job-parameters"] == f"city:Bern,{key}:***,limit:3"


@pytest.fixture
def planted():
    """Settings of a job with one secret in all of them."""
    secret = f"Zq{uuid.uuid4().hex}"
    given = {f"my.{key}": secret for key in SECRET_NAMES}
    given |= {f"my.url{number}": url.replace("SECRET", secret) for number, url in enumerate(URLS)}
    given |= {f"my.text{number}": text.replace("SECRET", secret) for number, text in enumerate(TEXTS)}
    given["pipeline.global-job-parameters"] = f"city:Bern,password:{secret}"
    return secret, given


def test_a_configuration_and_its_errors_do_not_show_the_secret(planted):
    secret, given = planted
    configuration = Configuration.from_dict(given)
    assert hides(str(configuration) + repr(configuration), secret)
    for key in given:
        readers: Any = (configuration.get_integer, configuration.get_boolean, configuration.get_duration)
        for read in readers:
            with pytest.raises(ValueError, match="does not have the type") as refused:
                read(key, None)
            assert hides(str(refused.value), secret)
    with pytest.raises(TypeError) as wrong:
        configuration.set_integer("db.pwd", secret)
    assert hides(str(wrong.value), secret)


def test_flintstream_config_and_refused_options_do_not_show_the_secret(planted):
    secret, given = planted
    options = [part for key, value in given.items() for part in ("-D", f"{key}={value}")]
    result = CliRunner().invoke(main, ["config", "--set", *options])
    assert result.exit_code == 0
    assert "my.sasl.password" in result.output
    assert hides(result.output, secret)
    result = CliRunner().invoke(main, ["config", "-D", f"sasl.password: {secret}"])
    assert result.exit_code == 2
    assert hides(result.output, secret)


@pytest.mark.promise("S22")
def test_a_record_a_reply_of_the_rest_interface_and_a_log_do_not_show_the_secret(
    planted, tmp_path, monkeypatch, caplog
):
    secret, given = planted
    monkeypatch.setenv("FLINTSTREAM_HISTORY_DIR", str(tmp_path))
    settings_of_job = {"flintstream.engine": "inline", "restart-strategy.type": "none", **given}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings_of_job))

    def fail(value):
        raise ConnectionError("; ".join([*(url.replace("SECRET", secret) for url in URLS), f"password={secret}"]))

    env.from_collection([1]).map(fail).print()
    client = env.execute_async("job")
    with pytest.raises(Exception, match="jdbc"):
        client.get_job_execution_result().result()
    running: Any = vars(client._handle)["_job"]
    record = wait_for(lambda: record_of(running))
    replies = [record, jobs.config(record), jobs.settings(record), jobs.exceptions(record, None)]
    assert "my.sasl.password" in json.dumps(replies)
    assert hides(json.dumps(replies) + describe(running.result.exception()), secret)
    recent_log.keep()
    log = logging.getLogger("flintstream.test")
    for url in URLS:
        log.warning("cannot reach %s", url.replace("SECRET", secret))
    log.warning("Authorization: Bearer %s", secret)
    assert hides(json.dumps(recent_log.lines()), secret)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if secret.encode() in path.read_bytes()] == []


OF_TABLES = {
    "kafka": {"topic": "t", "properties.bootstrap.servers": "127.0.0.1:1", "format": "json"}
    | {"properties.sasl.jaas.config": 'X required username="me" password="SECRET";'}
    | {"properties.ssl.keystore.password": "SECRET", "properties.sasl.password": "SECRET"},
    "upsert-kafka": {"topic": "t", "properties.bootstrap.servers": "127.0.0.1:1"}
    | {"key.format": "avro-confluent", "value.format": "avro-confluent"}
    | {"key.avro-confluent.url": "http://me:SECRET@127.0.0.1:1", "value.avro-confluent.url": "http://127.0.0.1:1"}
    | {"value.avro-confluent.basic-auth.credentials-source": "USER_INFO"}
    | {"value.avro-confluent.basic-auth.user-info": "me:SECRET"},
    "jdbc": {
        "url": "jdbc:postgresql://me:SECRET@127.0.0.1:1/x",
        "table-name": "t",
        "password": "SECRET",
        "username": "me",
    },
    "mongodb": {"uri": "mongodb://me:SECRET@127.0.0.1:1/?serverSelectionTimeoutMS=50", "database": "d"}
    | {"collection": "c", "sink.max-retries": "0", "scan.partition.strategy": "single"},
    "filesystem": {"path": "https://127.0.0.1:1/in?sig=SECRET", "format": "csv"},
}


@pytest.mark.promise("S22")
@pytest.mark.parametrize("connector", OF_TABLES)
@pytest.mark.parametrize("wrong", [{}, {"no-such-option": "1"}], ids=["as declared", "with a wrong option"])
def test_show_create_explain_and_errors_of_tables_do_not_show_the_secret(connector, wrong, caplog, capfd):
    pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
    from flintstream.table import EnvironmentSettings, TableEnvironment

    secret = f"Zq{uuid.uuid4().hex}"
    caplog.set_level(logging.INFO)
    configuration = Configuration.from_dict({"flintstream.engine": "inline", "restart-strategy.type": "none"})
    t_env = TableEnvironment.create(
        EnvironmentSettings.new_instance().in_batch_mode().with_configuration(configuration).build()
    )
    options = {"connector": connector, **OF_TABLES[connector], **wrong}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items()).replace("SECRET", secret)
    told = []

    def note(statement):
        try:
            result = t_env.execute_sql(statement)
            told.append(str(list(result.collect())))
        except Exception as error:  # noqa: BLE001 - whatever is raised, it is looked at
            told.append(f"{type(error).__name__}: {error} {error!r} {error.__cause__!r}")

    note(f"CREATE TABLE t (a STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ({listed})")
    note(f"CREATE TABLE t2 (a STRING WITH ({listed})")
    note(f"CREATE TABLE t3 (a STRING) WITH ({listed}) AND")
    for statement in ("SHOW CREATE TABLE t", "DESCRIBE t", "EXPLAIN SELECT * FROM t", "SELECT * FROM t"):
        note(statement)
    note("INSERT INTO t VALUES ('x')")
    note(f"SELECT * FROM t /*+ OPTIONS('password'='{secret}') */")  # noqa: S608
    note(f"EXPLAIN SELECT * FROM t /*+ OPTIONS('password'='{secret}') */")  # noqa: S608
    note(f"SET 'my.password' = '{secret}'")
    note("SET")
    out, err = capfd.readouterr()
    assert f"'{next(iter(OF_TABLES[connector]))}'" in told[3]
    assert "***" in told[3]
    assert [text for text in [*told, out, err, caplog.text] if not hides(text, secret)] == []


@pytest.mark.parametrize("url", URLS)
def test_options_of_connectors_refuse_and_show_a_url_without_its_password(url):
    secret = f"Zq{uuid.uuid4().hex}"
    url = url.replace("SECRET", secret)
    told = []
    for show in (
        lambda: JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url).build(),
        lambda: SchemaRegistry([url]),
        lambda: shown_path(str(Location.parse(url))) if url.startswith(("http", "ftp")) else None,
    ):
        try:
            told.append(repr(show()))
        except (PlanError, MissingDependencyError) as error:
            told.append("".join(traceback.format_exception(error)))
    assert [text for text in told if not hides(text, secret)] == []


def test_spark_is_given_the_same_rules_in_one_pattern():
    pattern = re.compile(f"{SECRET_KEYS}|{SECRETS_OF_URLS}")
    for key in SECRET_NAMES:
        assert pattern.search(f"spark.my.{key}")
    for form in URLS:
        value = form.replace("SECRET", "Zq12345678")
        if without_secrets(value) != value and "(" not in value:
            assert pattern.search(value), form
    assert not [key for key in PLAIN_NAMES if pattern.search(f"spark.my.{key}")]
