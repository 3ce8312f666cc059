from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from benchmarks.process import Cost, RunError
from benchmarks.start import Command, commands, results, whole_cost, with_mode, word_count

from benchmarks import start

PROGRAM = """from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
"""
BURNS = "import time\nwhile time.process_time() < 0.3: pass\nprint('(a,1)')"
LEAVES_A_CHILD = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURNS!r}], start_new_session=True)"


def command(program):
    return Command("impostor", [sys.executable, "-c", program], dict(os.environ))


@pytest.mark.slow
@pytest.mark.parametrize("program", [BURNS, LEAVES_A_CHILD])
def test_the_cost_of_a_command_is_that_of_all_its_processes(program, tmp_path):
    cost, output = whole_cost(command(program), str(tmp_path))
    assert cost.cpu > 0.25
    assert cost.seconds > 0.25
    assert results(output) == ["(a,1)"]


def test_a_command_that_fails_is_an_error_with_its_last_messages(tmp_path):
    with pytest.raises(RunError, match=r"impostor: exit code 1\n(.|\n)*SyntaxError"):
        whole_cost(command("nonsense nonsense"), str(tmp_path))


def test_results_are_the_counts_in_a_fixed_order():
    assert results("log\n(b,2)\n(a,1)\n2> of a subtask") == ["(a,1)", "(b,2)"]


def test_only_the_copy_for_pyflink_has_its_mode(tmp_path):
    ours, theirs = commands("/venv/bin/python", str(tmp_path), PROGRAM, "process")
    assert ours.arguments[1:] == ["run", str(tmp_path / "word_count.py")]
    assert Path(ours.arguments[-1]).read_text() == PROGRAM
    assert theirs.arguments == ["/venv/bin/python", str(tmp_path / "pyflink" / "word_count.py")]
    assert Path(theirs.arguments[-1]).read_text() == with_mode(PROGRAM, "process")
    assert theirs.variables["PATH"].startswith(f"/venv/bin{os.pathsep}")
    assert not any("PYTHONDONTWRITEBYTECODE" in item.variables for item in (ours, theirs))


def test_a_program_with_a_mode_still_compiles():
    text = with_mode(PROGRAM, "thread")
    assert "get_execution_environment(_Configuration().set_string('python.execution-mode', 'thread'))" in text
    compile(text, "word_count.py", "exec")


def test_the_word_count_is_that_of_the_interpreter(tmp_path):
    package = tmp_path / "pyflink"
    package.mkdir()
    (package / "__init__.py").touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert word_count(str(python)) == str(package / "examples" / "datastream" / "word_count.py")


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Replace both commands by costs and outputs; return them, by name of the command."""
    program = tmp_path / "word_count.py"
    program.write_text(PROGRAM)
    found = {"flintstream": (Cost(9, 3), "(a,1)\n(b,2)"), "PyFlink": (Cost(12, 6), "(b,2)\n(a,1)")}
    monkeypatch.setattr(start, "word_count", lambda _: str(program))
    monkeypatch.setattr(start, "whole_cost", lambda command, _: found[command.name])
    monkeypatch.setattr(start, "SETTLED_SECONDS", 0)
    return found


def test_medians_and_ratios_are_printed(runs, capsys):
    start.main(["--pairs", "3", "--python", sys.executable])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9  # the first pair does not count
    assert lines[-3].split() == ["median", "of", "flintstream", "9.00", "s", "CPU", "3.00", "s"]
    assert lines[-1] == "ratio 0.75, of the CPU 0.50"
    start.main(["--pairs", "1", "--python", sys.executable, "--only", "PyFlink"])
    assert capsys.readouterr().out.count("flintstream") == 0


@pytest.mark.parametrize("output", ["(a,1)", ""])
def test_other_results_are_an_error(runs, output):
    runs["PyFlink"] = (Cost(1, 1), output)
    with pytest.raises(RunError, match="PyFlink has other results"):
        start.main(["--pairs", "1", "--python", sys.executable])
