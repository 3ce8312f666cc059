from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import flintstream
from flintstream.cli import main, run

pytestmark = pytest.mark.slow

SOURCE = str(Path(flintstream.__file__).parents[1])
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCE}


def flintstream_run(*arguments, **options):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "flintstream.cli", "run", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        **options,
    )


@pytest.fixture
def script(tmp_path):
    def write(text, name="job.py"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def parsed(monkeypatch):
    """The command's interpretation of its arguments; no program runs."""
    seen: dict[str, Any] = {}

    def execute(script, module, arguments, imports, *, resume):
        seen.update(script=script, module=module, arguments=arguments, imports=imports, resume=resume)
        return SystemExit(0)

    def set_defaults(config, master, parallelism, py_files, *, progress):
        seen.update(config=config, master=master, parallelism=parallelism, py_files=py_files, progress=progress)

    monkeypatch.setattr(run, "_run", execute)
    monkeypatch.setattr(run, "set_defaults", set_defaults)
    monkeypatch.setattr(run, "_serve_pyflink", lambda: None)
    monkeypatch.setattr("flintstream.coordinator.signals.end_in_order", lambda: None)

    def parse(*arguments):
        result = CliRunner().invoke(main, ["run", *arguments])
        assert result.exit_code == 0, result.output
        return seen

    return parse


def test_the_library_is_never_searched_for_garbage_and_what_the_program_leaves_is_collected(script, tmp_path):
    path = script(
        "import gc\n"
        "class Written:\n"
        "    def __init__(self, path):\n"
        "        self.file = open(path, 'w')\n"
        "        self.itself = self\n"
        f"written = Written({str(tmp_path / 'kept')!r})\n"
        "written.file.write('kept')\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000)\n"
    )
    done = flintstream_run(path)
    assert done.stdout == "True True\n", done.stderr
    assert (tmp_path / "kept").read_text() == "kept"


def test_a_script_runs_as_main_with_pyflink_and_its_own_arguments(script):
    path = script(
        "import sys, pyflink.common, flintstream.common, helper_beside_it\n"
        "class Thing: pass\n"
        "import pickle\n"
        "assert isinstance(pickle.loads(pickle.dumps(Thing())), Thing)\n"
        "print(__name__, __file__, pyflink.common.Types is flintstream.common.Types, sys.argv)\n"
    )
    script("", "helper_beside_it.py")
    done = flintstream_run(path, "-p", "3", "--help", "--", "x")
    assert done.stdout == f"__main__ {path} True {[path, '-p', '3', '--help', '--', 'x']}\n"
    assert (done.stderr, done.returncode) == ("", 0)


def test_settings_reach_the_environment_to_be(script):
    path = script("from flintstream.options.command_line import get_defaults\nprint(get_defaults())\n")
    done = flintstream_run("--master", "local[3]", "-p", "2", "-D", "a.b=c=d", "-Dx= y ", path)
    assert done.stdout == (
        "Defaults(config={'a.b': 'c=d', 'x': 'y'}, master='local[3]', parallelism=2, py_files=(), progress=None)\n"
    ), done.stderr


def test_what_to_start_from_becomes_settings(parsed, script, tmp_path, monkeypatch):
    path = script("")
    monkeypatch.chdir(tmp_path)
    assert parsed("-s", "relative/savepoint", "-n", path, "-s", "mine")["config"] == {
        "execution.state-recovery.path": f"{tmp_path}/relative/savepoint",
        "execution.state-recovery.ignore-unclaimed-state": "true",
    }
    assert parsed("--fromSavepoint", "s3://b/c", "--allowNonRestoredState", path)["config"] == {
        "execution.state-recovery.path": "s3://b/c",
        "execution.state-recovery.ignore-unclaimed-state": "true",
    }
    assert parsed("--resume", "-D", "a=b", path)["config"] == {"a": "b", "flintstream.resume": "true"}


COUNTING = """
import sys
from flintstream.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3]).uid(sys.argv[1]).key_by(lambda n: n).sum().uid("sum").print()
env.execute("counting")
"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-s", "/nothing/here"], "Error: there is no checkpoint or savepoint at /nothing/here: no file _metadata\n"),
        (
            ["--resume"],
            (
                "Error: 'flintstream.resume' is set (--resume), but there is no directory to look for checkpoints: "
                "set 'execution.checkpointing.dir' and 'execution.checkpointing.interval'\n"
            ),
        ),
    ],
)
def test_what_cannot_be_started_from_is_said_in_one_line(script, options, message):
    done = flintstream_run("-Dflintstream.engine=inline", *options, script(COUNTING), "numbers")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)


@pytest.mark.parametrize(
    ("arguments", "script_arguments"),
    [
        (["-p4", "SCRIPT", "-p", "5"], ("-p", "5")),
        (["--parallelism=4", "-py", "SCRIPT", "--input", "x", "-p", "5"], ("--input", "x", "-p", "5")),
        (["--python", "SCRIPT", "-p", "4", "first", "--verbose"], ("first", "--verbose")),
        (["--parallelism", "4", "SCRIPT", "--", "--help"], ("--", "--help")),
        (["-p", "4", "-py", "SCRIPT", "--", "--help"], ("--help",)),
    ],
)
def test_the_programs_arguments_are_its_own(parsed, script, arguments, script_arguments):
    path = script("")
    seen = parsed(*(path if argument == "SCRIPT" else argument for argument in arguments))
    assert (seen["script"], seen["parallelism"], seen["arguments"]) == (path, 4, script_arguments)


def test_python_files_are_put_on_the_path_and_handed_on(parsed, tmp_path, script):
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("zipped.py", "")
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "one.py").touch()
    given = [f"{tmp_path}/lib.zip", f"{tmp_path}/folder", f"{tmp_path}/elsewhere/one.py"]
    seen = parsed("-pyfs", ",".join(given), script(""))
    assert seen["py_files"] == given
    assert seen["imports"] == [given[0], given[1], f"{tmp_path}/elsewhere"]


def test_python_files_are_found_after_what_lies_beside_the_program(tmp_path, script):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "helper.py").write_text("where = 'folder'")
    (tmp_path / "folder" / "other.py").write_text("where = 'folder'")
    script("where = 'beside'", "helper.py")
    path = script("import sys, helper, other\nprint(helper.where, other.where, sys.path[:2])\n")
    for program in ([path], ["-pym", "job"]):
        done = flintstream_run("-pyfs", f"{tmp_path}/folder", *program, cwd=tmp_path)
        assert done.stdout == f"beside folder {[str(tmp_path), f'{tmp_path}/folder']}\n", done.stderr


def test_what_the_tasks_need_becomes_configuration(parsed, tmp_path, script):
    for name in ("a.zip", "b.zip", "requirements.txt"):
        (tmp_path / name).touch()
    (tmp_path / "packages").mkdir()
    seen = parsed(
        *("-pyarch", f"{tmp_path}/a.zip,{tmp_path}/b.zip#data"),
        *("-pyreq", f"{tmp_path}/requirements.txt#{tmp_path}/packages"),
        *("-pyexec", "data/bin/python"),
        script(""),
    )
    assert seen["config"] == {
        "python.archives": f"{tmp_path}/a.zip#a.zip,{tmp_path}/b.zip#data",
        "python.requirements": f"{tmp_path}/requirements.txt#{tmp_path}/packages",
        "python.executable": "data/bin/python",
    }


def test_a_module_runs_too(script, tmp_path):
    script("import sys\nprint(__name__, sys.argv[1:])\n", "my_job.py")
    done = flintstream_run("-pyfs", str(tmp_path), "-pym", "my_job", "--input", "x")
    assert (done.stdout, done.stderr, done.returncode) == ("__main__ ['--input', 'x']\n", "", 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "specify a program"),
        (["nothing.py"], "the script nothing.py does not exist"),
        (["-py", "a.py", "-pym", "b"], "not both"),
        (["-D", "novalue", "x.py"], "must be key=value, but got 'novalue'"),
        (["-pyfs", "/does/not/exist", "x.py"], "/does/not/exist does not exist"),
        (["--unknown", "x.py"], "--unknown"),
        (["-p", "0", "x.py"], "0 is not in the range"),
        (["-p"], "requires an argument"),
        (["-s", "savepoint", "--resume", __file__], "specify either --fromSavepoint or --resume, not both"),
    ],
)
def test_wrong_use_is_explained(arguments, message):
    result = CliRunner().invoke(main, ["run", *arguments])
    assert result.exit_code == 2
    assert message in result.output


FAILING = """
from flintstream.common.time import Duration

def parse(text):
    return Duration.parse(text)

try:
    parse("ten seconds")
except ValueError as error:
    raise RuntimeError("no such time") from error
"""


def test_a_failure_shows_the_programs_lines_and_exit_code_1(script):
    path = script(FAILING)
    done = flintstream_run(path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f'File "{path}", line 5, in parse' in done.stderr
    assert f'File "{path}", line 10, in <module>' in done.stderr
    assert "RuntimeError: no such time\n(run with --verbose for the full traceback)\n" in done.stderr
    assert done.stderr.count("  File ") == 3
    assert "is not a duration" in done.stderr
    assert "flintstream/common/time.py" not in done.stderr
    assert "flintstream/common/time.py" in flintstream_run("--verbose", path).stderr


def test_a_syntax_error_is_shown_where_it_is(script):
    path = script("x = = 1\n")
    done = flintstream_run(path)
    assert done.returncode == 1
    assert f'File "{path}", line 1' in done.stderr
    assert "SyntaxError" in done.stderr


def test_the_programs_own_exit_code_is_kept(script):
    assert flintstream_run(script("import sys; sys.exit(7)")).returncode == 7


def test_ctrl_c_ends_with_130(script):
    path = script("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "flintstream.cli", "run", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (130, "interrupted\n")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("execution.checkpointing.interval=soon", "'execution.checkpointing.interval' must be a duration"),
        ("state.backend.rocksdb.writebuffer.size=big", "'state.backend.rocksdb.writebuffer.size' must be a size"),
    ],
)
def test_a_bad_value_of_an_option_is_refused_before_the_program_starts(script, setting, message):
    result = CliRunner().invoke(main, ["run", "-D", setting, script("")])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


SLEEPING = """
import time
try:
    print("ready", flush=True)
    time.sleep(300)
finally:
    print("ends", flush=True)
"""


def first_of_a_container(command):
    """Return the command in a new namespace, in which its process is the first."""
    found = shutil.which("unshare")
    own = [found, "--pid", "--fork", "--kill-child"] if found else []
    if not own or subprocess.run([*own, "true"], capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("needs unshare, and the right to make a namespace of processes")
    return [*own, *command]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_first_job_ends_a_program_in_a_container(number, script):
    command = first_of_a_container([sys.executable, "-m", "flintstream.cli", "run", script(SLEEPING)])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            os.kill(int(children.read_text()), number)
            assert process.stdout.read() == "ends\n"
            assert process.wait(60) == 128 + number
        finally:
            process.kill()


JOB = """
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3]).map(lambda n: n + 1).print()
env.execute("numbers")
"""


def test_progress_is_written_as_json_if_that_is_wanted(script):
    options = ["-D", "flintstream.engine=inline"]
    done = flintstream_run(*options, "--progress", "json", script(JOB))
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith('{"event"')]
    assert events[0]["event"] == "submitted"
    assert len({event["job_id"] for event in events}) == 1
    assert {name: events[-1][name] for name in ("event", "status", "job_name", "records_in", "records_out")} == {
        "event": "executed",
        "status": "FINISHED",
        "job_name": "numbers",
        "records_in": 3,
        "records_out": 3,
    }
    assert '{"event"' not in flintstream_run(*options, script(JOB)).stderr


def test_a_job_of_a_statement_goes_on_when_the_program_has_ended(script):
    pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
    program = script(
        "from pyflink.table import EnvironmentSettings, TableEnvironment\n"
        "t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())\n"
        "t_env.get_config().set('parallelism.default', '1')\n"
        "with_ = \"WITH ('connector' = 'datagen', 'number-of-rows' = '6', 'rows-per-second' = '2')\"\n"
        "t_env.execute_sql('CREATE TABLE numbers (n INT) ' + with_)\n"
        "t_env.execute_sql(\"CREATE TABLE out (n INT) WITH ('connector' = 'print')\")\n"
        "t_env.execute_sql('INSERT INTO out SELECT n FROM numbers')\n"
        "print('ended', flush=True)\n"
    )
    done = flintstream_run("-D", "flintstream.engine=inline", program)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split()
    assert (lines.count("ended"), len(lines)) == (1, 7)
    assert lines[-1] != "ended"


def test_a_statement_that_fails_after_the_program_fails_the_command(script):
    pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
    program = script(
        "from pyflink.table import EnvironmentSettings, TableEnvironment\n"
        "t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())\n"
        "t_env.execute_sql(\"CREATE TABLE out (n INT) WITH ('connector' = 'print')\")\n"
        "t_env.execute_sql(\"INSERT INTO out SELECT CAST(x AS INT) FROM (VALUES ('a')) AS T(x)\")\n"
    )
    done = flintstream_run("-D", "flintstream.engine=inline", program)
    assert done.returncode == 1
    assert "'a'" in done.stderr
