"""``flintstream sql`` runs statements from scripts, the command line and a terminal."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from tests.cli.commands import ENVIRONMENT

from flintstream.cli.sql.runner import Runner
from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import history
from flintstream.sql_gateway.sessions import Session

INLINE = ["-D", "flintstream.engine=inline"]


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))


@pytest.fixture
def told():
    return []


@pytest.fixture
def runner(told):
    session = Session({"flintstream.engine": "inline"})
    yield Runner(session, told.extend)
    session.close()


COUNTS = "SELECT word, COUNT(*) AS n FROM (VALUES ('to'), ('be'), ('to')) AS t (word) GROUP BY word;"


def test_a_query_shows_each_change(runner, told):
    assert runner.run_script(COUNTS)
    assert [line.split("|")[1:4] for line in told if " to |" in line] == [
        [" +I ", f"{'to':>31} ", f"{1:>21} "],
        [" -U ", f"{'to':>31} ", f"{1:>21} "],
        [" +U ", f"{'to':>31} ", f"{2:>21} "],
    ]
    assert told[-1] == "4 rows in set"


def test_ctrl_c_while_a_row_is_written_cancels_the_query(runner, told):
    def write(lines):
        for line in lines:
            told.append(line)
            if "+I" in line:
                raise KeyboardInterrupt

    runner._write = write
    runner.run_script("CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');")
    runner.run_script("SELECT n FROM endless;")
    assert told[-1] == "cancelled"
    assert sum("+I" in line for line in told) == 1


def test_a_query_shows_the_table_that_its_changes_leave(runner, told):
    assert runner.run_script(f"SET 'sql-client.execution.result-mode' = 'table'; {COUNTS}")
    assert [" ".join(line.split()) for line in told[4:]][:2] == ["| be | 1 |", "| to | 2 |"]
    assert told[-1] == "2 rows in set"


def test_the_mode_of_the_next_query_can_be_changed(runner, told):
    assert runner.run_script(f"SET 'execution.runtime-mode' = 'batch'; {COUNTS}")
    assert told[-1] == "2 rows in set"


def test_an_error_marks_its_place_and_ends_the_script(runner, told):
    assert not runner.run_script("SELECT 1 AS n,\n  nope\nFROM (VALUES (1)) AS t (n);\nSHOW TABLES;")
    assert told[0].startswith("error: Column 'nope' not found at line 2, column 3")
    assert told[1:] == ["    nope", "    ^"]


def test_an_error_of_a_job_is_shown(runner, told):
    assert not runner.run_script("SELECT 1 / n AS x FROM (VALUES (0)) AS t (n)")
    assert "error: / by zero" in told[-1]


def test_control_characters_in_errors_are_escaped(runner, told):
    assert not runner.run_script("SELECT `a\x1b[2J` FROM (VALUES (1)) AS t (n)")
    assert not any("\x1b" in line for line in told)


def test_a_plan_is_shown_as_it_is(runner, told):
    assert runner.run_script("EXPLAIN SELECT 1 AS n")
    assert told[0] == "== Abstract Syntax Tree =="


def test_an_insert_tells_its_job(runner, told):
    assert runner.run_script("CREATE TABLE t (n INT) WITH ('connector' = 'blackhole'); INSERT INTO t SELECT 1;")
    assert told[0] == "OK"
    assert len(told[1].removeprefix("Job ID: ")) == 32


def test_a_script_can_run_another_one(runner, told, tmp_path):
    (tmp_path / "more.sql").write_text("CREATE VIEW v AS SELECT 1 AS n;\nSHOW VIEWS;")
    assert runner.run_script(f"SOURCE '{tmp_path / 'more.sql'}';")
    assert told[:3] == ["> CREATE VIEW v AS SELECT 1 AS n", "OK", "> SHOW VIEWS"]
    assert not runner.run_script("SOURCE 'nowhere.sql';")
    assert "cannot be read" in told[-1]


def run(*arguments, directory, given=None):
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "flintstream.cli", "sql", *INLINE, *arguments],
        cwd=directory,
        env={**ENVIRONMENT, registry.DIRECTORY: os.environ[registry.DIRECTORY]},
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_command_runs_scripts_statements_and_what_comes_from_a_pipe(tmp_path):
    (tmp_path / "script.sql").write_text(
        "CREATE TABLE files (n INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');\n"
        "INSERT INTO files SELECT * FROM (VALUES (1), (2)) AS t (n);\n"
    )
    done = run("-f", "script.sql", directory=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line for path in (tmp_path / "out").rglob("*") if path.is_file() for line in path.read_text().split()]
    assert sorted(lines) == ["1", "2"]  # the command has waited for the job
    done = run("-e", "SHOW CATALOGS; QUIT; SHOW TABLES", directory=tmp_path)
    assert (done.returncode, done.stdout.count("default_catalog")) == (0, 1)
    assert "1 row in set" in done.stdout
    done = run(directory=tmp_path, given="SELECT nope; SHOW CATALOGS;")
    assert done.returncode == 1
    assert "not found at line 1, column 8" in done.stdout
    assert "default_catalog" not in done.stdout
    done = run("-f", "nowhere.sql", directory=tmp_path)
    assert (done.returncode, "cannot be read" in done.stderr) == (1, True)


def test_without_prompt_toolkit_the_error_names_the_command_of_pip(monkeypatch):
    from click.testing import CliRunner

    from flintstream.cli import main

    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    monkeypatch.delitem(sys.modules, "flintstream.cli.sql.shell", raising=False)
    monkeypatch.setattr("flintstream.cli.sql.client.has_terminal", lambda: True)
    done = CliRunner().invoke(main, ["sql", *INLINE])
    assert done.exit_code == 1
    assert "pip install 'flintstream[sql]'" in done.output
    done = CliRunner().invoke(main, ["sql", *INLINE, "-e", "SELECT 1 AS n"])
    assert (done.exit_code, "1 row in set" in done.output) == (0, True)


@pytest.fixture
def terminal(tmp_path):
    client = pexpect.spawn(
        sys.executable,
        ["-m", "flintstream.cli", "sql", *INLINE],
        env={
            **ENVIRONMENT,
            "TERM": "xterm",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "XDG_STATE_HOME": str(tmp_path),
            registry.DIRECTORY: os.environ[registry.DIRECTORY],
        },
        dimensions=(40, 100),
        encoding="utf-8",
        timeout=60,
    )
    client.expect("flintstream>")
    yield client
    client.close(force=True)


@pytest.mark.slow
def test_a_terminal_runs_statements_of_several_lines_completes_names_and_cancels(terminal, tmp_path):
    terminal.send("CREATE TABLE endless (n INT)\rWITH ('connector' = 'datagen', 'rows-per-second' = '10');\r")
    terminal.expect("OK")
    terminal.send("SELECT n FROM en\t")
    terminal.expect("dless")  # on a busy machine, "en" is drawn before it
    terminal.send(";\r")
    terminal.expect(r"\+I ")
    terminal.sendintr()
    terminal.expect("rows in set|row in set|cancelled")  # the second one, if a row is written at that moment
    terminal.send("SHOW JOBS;\r")
    terminal.expect("CANCELED")
    terminal.send("SET 'my.password' = 'hush';\r")
    terminal.expect("OK")
    terminal.send("SELECT nope;\r")
    terminal.expect("error: .*not found at line 1, column 8")
    terminal.send("quit\r")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    kept = Path(tmp_path, "flintstream", "sql-history")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "SELECT nope;" in kept.read_text()
    assert "hush" not in kept.read_text()
