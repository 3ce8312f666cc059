"""`flintstream stubs`: with its stubs, type checkers follow programs that import pyflink."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.typecheck.checkers import ROOT, output_of, why_no_pyright

from flintstream.cli.checking.stubs import stubs_command
from flintstream.compat import pyflink
from flintstream.compat.stubs import write_stubs
from flintstream.errors import FlintstreamError

PROGRAM = """\
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udf


@udf(result_type=DataTypes.STRING())
def shout(text):
    return text + "!"


def run() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "lines").build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    lines.map(len, output_type=Types.INT()).print()
    env.from_collection([1, 2]).map(lambda number: number.upper())  # mistake
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.from_elements(map(lambda word: (word,), ["a"]), ["word"]).select(shout(col("word"))).execute().print()
    t_env.sql("SELECT 1")  # mistake
"""
MISTAKES = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# mistake")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("stubs")
    write_stubs(made / "typings")
    (made / "job.py").write_text(PROGRAM, encoding="utf-8")
    return made


def test_every_name_of_a_stub_can_be_imported(folder):
    pyflink.install()
    stubs = sorted((folder / "typings").rglob("*.pyi"))
    for stub in stubs:
        exec(compile(stub.read_text(encoding="utf-8"), str(stub), "exec"), {})  # noqa: S102 - our own code
    assert len(stubs) > 100


@pytest.mark.slow
def test_mypy_finds_the_mistakes_of_a_program_that_imports_pyflink(folder):
    path = f"mypy_path = {folder / 'typings'}:{ROOT / 'src'}"
    (folder / "mypy.ini").write_text(f"[mypy]\n{path}\nfollow_imports = silent\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache" / "stubs")]
    errors = [line for line in output_of([*command, "job.py"], folder).splitlines() if ": error: " in line]
    found = [line.split(":")[:2] for line in errors]
    assert sorted((Path(file).name, int(line)) for file, line in found) == [("job.py", line) for line in MISTAKES]


@pytest.mark.slow
@pytest.mark.skipif(why_no_pyright() is not None, reason=str(why_no_pyright()))
def test_pyright_finds_the_mistakes_of_a_program_that_imports_pyflink(folder):
    config = {"include": ["job.py"], "extraPaths": [str(ROOT / "src")], "typeCheckingMode": "basic"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson"]
    told = json.loads(output_of(command, folder))["generalDiagnostics"]
    errors = [item["range"]["start"]["line"] + 1 for item in told if item["severity"] == "error"]
    assert sorted(errors) == MISTAKES


def test_stubs_are_written_again_without_those_of_older_releases(tmp_path):
    write_stubs(tmp_path)
    old = tmp_path / "pyflink" / "old.pyi"
    old.touch()
    assert write_stubs(tmp_path) > 100
    assert not old.exists()


def test_a_folder_of_others_stays_as_it_is(tmp_path):
    own = tmp_path / "pyflink" / "__init__.py"
    own.parent.mkdir()
    own.touch()
    with pytest.raises(FlintstreamError, match="name another directory"):
        write_stubs(tmp_path)
    assert own.exists()


def test_the_command_says_where_they_are(tmp_path):
    done = CliRunner().invoke(stubs_command, [str(tmp_path / "made")])
    assert done.exit_code == 0
    assert "stubs below" in done.output
    assert "mypy_path" in done.output
    (tmp_path / "made" / "pyflink" / "__init__.pyi").unlink()
    done = CliRunner().invoke(stubs_command, [str(tmp_path / "made")])
    assert (done.exit_code, "name another directory" in done.output) == (1, True)
