"""Published clients of Flink's SQL gateway run SQL here, unmodified. Variables of the environment name what they need.

``PYFLINK_DIRECTORY`` is the package ``pyflink`` of an installation of PyFlink. ``FLINK_SQL_JARS`` is a folder with
``flink-sql-gateway``, which Flink's SQL client needs and PyFlink does not have, ``flink-sql-jdbc-driver-bundle`` and
``slf4j-api``. ``DBT_FLINK`` is the command ``dbt`` of an environment with dbt-flink-adapter, which needs Python 3.10,
and ``DB_API_PYTHON`` the Python of one with py-flink-sql-gateway.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.rest.test_rest import TOKEN, places, serving  # noqa: F401 - a fixture

from flintstream.coordinator import registry
from flintstream.rest.app import application
from flintstream.rest.sql import sql_routes
from flintstream.sql_gateway.sessions import Gateway

PYFLINK, JARS, DBT, PYTHON = map(os.environ.get, ("PYFLINK_DIRECTORY", "FLINK_SQL_JARS", "DBT_FLINK", "DB_API_PYTHON"))
READ = Path(__file__).parent / "Read.java"
COLORS = re.compile("\x1b\\[[0-9;]*m")

pytestmark = pytest.mark.server
needs_jars = pytest.mark.skipif(JARS is None, reason="FLINK_SQL_JARS names no folder with jars of Flink")


@pytest.fixture
def server(places):  # noqa: F811 - the fixture
    gateway = Gateway({"flintstream.engine": "inline"})
    with serving(application(TOKEN, more=sql_routes(gateway))) as caller:
        yield caller
    gateway.close_all()


def run(command, directory, **environment):
    done = subprocess.run(  # noqa: S603 - the client
        [str(part) for part in command],
        cwd=directory,
        env={**os.environ, "HOME": str(directory), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    text = COLORS.sub("", done.stdout)
    assert done.returncode == 0, text + done.stderr
    return text


def netrc(directory):
    """Return the path of a file with the token, in which clients on top of requests look."""
    path = directory / "netrc"
    path.write_text(f"machine 127.0.0.1 login me password {TOKEN}\n")
    path.chmod(0o600)
    return str(path)


HEADERS = {"FLINK_REST_CLIENT_HEADERS": f"Authorization:Bearer {TOKEN}"}
SCRIPT = """
SET 'sql-client.execution.result-mode' = 'tableau';
CREATE VIEW words AS SELECT * FROM (VALUES ('to'), ('be'), ('to')) AS t (word);
SELECT word, COUNT(*) AS n FROM words GROUP BY word;
SET 'execution.runtime-mode' = 'batch';
SELECT word, COUNT(*) AS n FROM words GROUP BY word ORDER BY word;
CREATE TABLE nowhere (word STRING) WITH ('connector' = 'blackhole');
BEGIN STATEMENT SET;
INSERT INTO nowhere SELECT word FROM words;
END;
SHOW TABLES;
SELECT nope FROM words;
"""


@needs_jars
@pytest.mark.skipif(PYFLINK is None, reason="PYFLINK_DIRECTORY names no installation of PyFlink")
def test_flinks_sql_client_runs_a_script(server, tmp_path):
    (tmp_path / "script.sql").write_text(SCRIPT)
    jars = [f"{PYFLINK}/lib/*", *Path(PYFLINK or "", "opt").glob("flink-sql-client-*.jar")]
    jars += Path(JARS or "").glob("flink-sql-gateway-*.jar")
    told = run(
        [
            *("java", "-cp", ":".join(map(str, jars)), "org.apache.flink.table.client.SqlClient"),
            *("gateway", "-e", f"127.0.0.1:{server.port}", "-f", tmp_path / "script.sql"),
        ],
        tmp_path,
        FLINK_CONF_DIR=f"{PYFLINK}/conf",
        **HEADERS,
    )
    words = [line for line in told.splitlines() if re.search(r"\b(to|be) \|", line)]
    assert [re.sub(" +", " ", line) for line in words] == [
        "| +I | to | 1 |",
        "| +I | be | 1 |",
        "| -U | to | 1 |",
        "| +U | to | 2 |",
        "| be | 1 |",
        "| to | 2 |",
    ]
    assert re.search("Job ID: [0-9a-f]{32}", told)
    assert "nowhere |" in told
    assert told.count("[ERROR]") == 1
    error = told.partition("[ERROR] Could not execute SQL statement. Reason:\n")[2].splitlines()[0]
    assert error.startswith("org.apache.flink.table.api.ValidationException: Column 'nope' not found at line 1")


@needs_jars
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac")
def test_flinks_jdbc_driver_reads_rows(server, tmp_path):
    jars = ":".join(str(jar) for pattern in ("flink-sql-jdbc-*", "slf4j-*") for jar in Path(JARS or "").glob(pattern))
    run(["javac", "-cp", jars, "-d", tmp_path, READ], tmp_path)
    opened = "--add-opens=java.base/java.util=ALL-UNNAMED"
    told = run(["java", opened, "-cp", f"{tmp_path}:{jars}", "Read", server.port], tmp_path, **HEADERS)
    assert told.splitlines() == [
        "TIMESTAMP(3) NOT NULL",
        "1 pear 1.25 2026-01-02 03:04:05.678 2026-01-02 false 1.5 2 {a=1} null",
        "2 apple 1.25 2026-01-02 03:04:05.678 2026-01-02 true 1.5 2 {a=2} null",
        "default_catalog",
        "true",
        "true",
    ]
    assert registry.entries() == []


@pytest.mark.skipif(DBT is None, reason="DBT_FLINK names no dbt with dbt-flink-adapter")
def test_dbt_builds_three_models_and_tests_them(server, tmp_path):
    write_project(tmp_path, server.port)
    environment = {"NETRC": netrc(tmp_path), "DO_NOT_TRACK": "1"}
    told = run([DBT, "run", "--profiles-dir", "."], tmp_path, **environment)
    assert "PASS=3 WARN=0 ERROR=0 SKIP=0 TOTAL=3" in told
    assert "".join(path.read_text() for path in (tmp_path / "out" / "totals").iterdir()) == "2,50\n"
    told = run([DBT, "test", "--profiles-dir", "."], tmp_path, **environment)
    assert "PASS=2 WARN=0 ERROR=0 SKIP=0 TOTAL=2" in told


MODELS = {
    "orders": (None, "select id, amount from (values (1, 10), (2, 20), (3, 30)) as t (id, amount)"),
    "large_orders": ("large", "select id, amount from {{ ref('orders') }} where amount > 10"),
    "totals": ("totals", "select count(*) as orders, sum(amount) as amount from {{ ref('large_orders') }}"),
}


def write_project(directory, port):
    """Write a project with a view and two tables of files, each of the one before."""
    (directory / "models").mkdir()
    (directory / ".dbt").mkdir()
    (directory / "dbt_project.yml").write_text(
        "{name: shop, version: '1.0', config-version: 2, profile: shop, model-paths: [models]}"
    )
    profile = f"type: flink, host: 127.0.0.1, port: {port}, session_name: shop, database: default_catalog"
    (directory / "profiles.yml").write_text(
        f"shop: {{target: dev, outputs: {{dev: {{{profile}, schema: default_database, threads: 1}}}}}}"
    )
    for name, (folder, query) in MODELS.items():
        config: dict[str, object] = {"materialized": "view"}
        if folder is not None:
            properties = {"connector": "filesystem", "path": str(directory / "out" / folder), "format": "csv"}
            config = {
                "materialized": "table",
                "type": "batch",
                "execution_config": {"table.dml-sync": "true"},
                "connector_properties": properties,
            }
        (directory / "models" / f"{name}.sql").write_text(f"{{{{ config(**{config}) }}}}\n{query}\n")
    (directory / "models" / "schema.yml").write_text(
        "{version: 2, models: [{name: large_orders, columns: [{name: id, tests: [not_null, unique]}]}]}"
    )


QUERY = """
import os
import sys

import httpx
from flink_gateway import connect

client = httpx.Client(headers={"Authorization": f"Bearer {os.environ['FLINTSTREAM_REST_TOKEN']}"})
with client, connect(sys.argv[1], properties={"execution.runtime-mode": "batch"}, http_client=client) as connection:
    with connection.cursor() as cursor:
        cursor.execute("CREATE VIEW fruit AS SELECT * FROM (VALUES (1, 'pear'), (2, 'apple')) AS t (id, name)")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, name, CAST(1.25 AS DECIMAL(5, 2)) AS price, TIMESTAMP '2026-01-02 03:04:05.678' AS made, "
            "ROW(id, name) AS pair, ARRAY[id] AS ids FROM fruit ORDER BY id"
        )
        print([column[0] for column in cursor.description])
        for row in cursor:
            print(row)
"""


@pytest.mark.skipif(PYTHON is None, reason="DB_API_PYTHON names no Python with py-flink-sql-gateway")
def test_a_driver_for_pythons_db_api_reads_rows(server, tmp_path):
    address = f"http://127.0.0.1:{server.port}"
    told = run([PYTHON, "-c", QUERY, address], tmp_path, FLINTSTREAM_REST_TOKEN=TOKEN)
    head, *rows = told.splitlines()
    assert head == "['id', 'name', 'price', 'made', 'pair', 'ids']"
    moment = "datetime.datetime(2026, 1, 2, 3, 4, 5, 678000)"
    assert rows == [
        f"({number}, '{name}', Decimal('1.25'), {moment}, {{'EXPR$0': {number}, 'EXPR$1': '{name}'}}, [{number}])"
        for number, name in ((1, "pear"), (2, "apple"))
    ]
