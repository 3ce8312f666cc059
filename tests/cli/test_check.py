"""``flintstream check`` says, without running a program, what works and what does not."""
# ruff: noqa: S608 - the statements are checked, not sent to a database

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from flintstream.cli import main
from flintstream.cli.checking import names
from flintstream.compat import pyflink

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def check(tmp_path):
    """Return the exit code and lines of a check of a program."""
    there = pyflink.is_installed()

    def run(text):
        program = tmp_path / "job.py"
        program.write_text(dedent(text))
        done = CliRunner().invoke(main, ["check", str(program)])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.exit_code, done.output.replace(f"{program}:", "").splitlines()

    yield run
    if not there:
        pyflink.uninstall()


def test_a_program_that_works_has_no_finding(check):
    code, lines = check(
        """
        from pyflink.common import Types
        from pyflink.datastream import StreamExecutionEnvironment

        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1], Types.INT()).print()
        env.execute()
        """
    )
    assert (code, lines) == (0, ["1 program: 1 without a finding, 0 with notes, 0 with errors"])


def test_the_program_does_not_run(check, tmp_path):
    check(f"import pyflink\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("from pyflink.datastream.connectors.pulsar import PulsarSource", "pulsar_source.py is a starting point"),
        ("from pyflink.datastream import StreamExecutionEnvironmen", "did you mean 'StreamExecutionEnvironment'?"),
        ("from pyflink.dataset import ExecutionEnvironment", "use pyflink.datastream in BATCH mode"),
        ("import pyflink.ml", "Flink ML is not part of flintstream"),
        ("env._j_stream_execution_environment.x()", "there is no Flink JVM here"),
    ],
)
def test_what_cannot_work_is_an_error_with_advice(check, line, finding):
    code, lines = check(f"import pyflink\n{line}\n")
    assert code == 1
    assert lines[0].startswith("2: error: ")
    assert finding in lines[0]
    assert lines[-1] == "1 program: 0 without a finding, 0 with notes, 1 with errors"


def test_an_import_that_a_program_can_do_without_is_a_note(check):
    code, lines = check("try:\n    from pyflink.datastream import Gone\nexcept ImportError:\n    Gone = None\n")
    assert code == 0
    assert lines[0].startswith("2: note: 'Gone' is not in pyflink.datastream")


def test_a_missing_package_is_an_error_with_the_command(check, monkeypatch):
    monkeypatch.setattr(names, "find_spec", lambda _: None)
    code, lines = check("from pyflink.datastream.connectors.kafka import KafkaSource\n")
    assert code == 1
    assert "pip install 'flintstream[kafka]'" in lines[0]


def test_jars_and_values_kept_in_functions_are_notes(check):
    code, lines = check(
        """
        from pyflink.datastream import MapFunction, StreamExecutionEnvironment

        class Count(MapFunction):
            def __init__(self):
                self.n = 0

            def map(self, value):
                self.n += 1
                print(value)
                return self.n

        StreamExecutionEnvironment.get_execution_environment().add_jars("file:///kafka.jar")
        """
    )
    assert code == 0
    assert [line.split(":")[0] for line in lines[:-1]] == ["9", "10", "13"]
    assert "Count.map() keeps 'self.n' between records" in lines[0]
    assert "standard error" in lines[1]
    assert "jars have no effect" in lines[2]


TABLES = """
    from pyflink.table import StreamTableEnvironment
    t_env.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen')")
"""


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("SELECT a, c FROM t", "Column 'c' not found at line 1, column 11; available: a, b"),
        ("SELECT a FROM tt", "Table 'tt' not found at line 1, column 15; did you mean 't'?"),
        ("SELEC a FROM t", "line 1, column 1"),
        (
            "CREATE CATALOG c WITH ('type' = 'hive')",
            "the catalog c with type 'hive' at line 1, column 16 is not supported yet",
        ),
    ],
)
def test_a_statement_that_cannot_be_planned_is_an_error(check, statement, finding):
    code, lines = check(TABLES + f"    t_env.execute_sql({statement!r})\n")
    assert code == 1
    assert lines[0].startswith("4: error: ")
    assert finding in lines[0]


def test_statements_are_planned_without_files_or_jobs(check, tmp_path):
    code, lines = check(
        TABLES
        + f"""
    WITH = "WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/no', 'format' = 'csv')"
    DDL = "CREATE TABLE files (a INT, x STRING)" + WITH
    t_env.execute_sql(DDL)
    t_env.sql_query("SELECT a, COUNT(*) " + "FROM files GROUP BY a")
    t_env.execute_sql("INSERT INTO files SELECT a, b FROM t")
    """
    )
    assert (code, lines) == (0, ["1 program: 1 without a finding, 0 with notes, 0 with errors"])


def test_a_batch_program_is_planned_as_a_batch(check):
    query = """    t_env.sql_query("SELECT a FROM t ORDER BY a")\n"""
    assert check(TABLES + query)[0] == 1
    assert check(TABLES + "    settings = EnvironmentSettings.in_batch_mode()\n" + query)[0] == 0


def test_what_python_names_and_puts_together_is_a_note(check):
    code, lines = check(
        TABLES
        + """
    t_env.create_temporary_view("v", stream)
    t_env.execute_sql("SELECT x FROM v")
    t_env.execute_sql(f"SELECT {column} FROM t")
    """
    )
    assert code == 0
    assert lines[0].startswith("6: note: Table 'v' not found")
    assert lines[1].startswith("7: note: execute_sql() of SQL text that the program builds while it runs: not checked")


def test_what_is_no_python_is_an_error_and_other_files_are_read(check, tmp_path):
    (tmp_path / "broken.py").write_text("import pyflink\n(\n")
    (tmp_path / "other.py").write_text("import json\n(\n")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "skipped.py").write_text("import pyflink.ml\n")
    (tmp_path / "job.py").write_text("import pyflink\n")
    done = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert done.exit_code == 1
    assert "broken.py: error: Python cannot read it" in done.output
    assert done.output.endswith("2 programs: 1 without a finding, 0 with notes, 1 with errors\n")


def test_a_folder_without_programs_says_so(tmp_path):
    done = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert (done.exit_code, done.output) == (0, "no Python file there imports pyflink\n")


def test_the_examples_are_fine(check):
    for path in (EXAMPLES / "word_count.py", EXAMPLES / "flight_delays.py"):
        code, lines = check(path.read_text().replace("from flintstream", "from pyflink"))
        assert code == 0, lines
