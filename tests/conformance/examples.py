"""The output of the runnable examples of the apache-flink wheel, which are neither copied nor installed here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RECORDED = Path(__file__).parent / "wheel_examples"
ORACLE_VENV = Path(__file__).parents[2] / ".oracle-venv"
DIRECTORY_VARIABLE = "PYFLINK_EXAMPLES"

EXAMPLES = (
    "word_count",
    "basic_operations",
    "process_json_data",
    "state_access",
    "event_time_timer",
    "windowing/tumbling_time_window",
    "windowing/sliding_time_window",
    "windowing/session_with_gap_window",
    "windowing/session_with_dynamic_gap_window",
    "windowing/tumbling_count_window",
)

# Output of PyFlink's libraries.
NOISE = ("PYFLINK_CYTHON_ENABLED", "No module named google.cloud", "Using Any for unsupported type")

PREFIX = re.compile(r"^\d+> ")


def find() -> Path | None:
    """Return the directory of the DataStream examples of an installed apache-flink.

    Candidates: the path in the environment variable ``PYFLINK_EXAMPLES``, the running interpreter's packages, and the
    virtual environment that the recorder creates.
    """
    candidates = [Path(os.environ[DIRECTORY_VARIABLE])] if DIRECTORY_VARIABLE in os.environ else []
    try:
        installed = files("apache-flink") or []
    except PackageNotFoundError:
        installed = []
    marker = "pyflink/examples/datastream/word_count.py"
    candidates += [Path(str(file.locate())).parent for file in installed if file.as_posix() == marker]
    candidates += ORACLE_VENV.glob("lib/python*/site-packages/pyflink/examples/datastream")
    return next((candidate for candidate in candidates if (candidate / "word_count.py").exists()), None)


def lines_of(stdout: str) -> list[str]:
    """Return the lines that an example printed, sorted, without the subtask prefix of a parallel print.

    >>> lines_of("2> (b,1)\\n1> (a,1)\\n")
    ['(a,1)', '(b,1)']
    """
    return sorted(PREFIX.sub("", line) for line in stdout.splitlines() if not line.startswith(NOISE))


def recorded_path(name: str) -> Path:
    """Return the path of the recorded lines of an example."""
    return RECORDED / f"{name.replace('/', '-')}.json"


def recorded_lines(name: str) -> list[str]:
    """Return the lines that an example prints on real PyFlink, sorted."""
    lines: list[str] = json.loads(recorded_path(name).read_text(encoding="utf-8"))["lines"]
    return lines


def run(command: Sequence[str], import_from: Path | None = None) -> list[str]:
    """Run a command and return the lines that it prints.

    Args:
        command: The command.
        import_from: A directory with packages for the command to import, in addition to the installed ones.

    Raises:
        RuntimeError: The command fails.
    """
    env = dict(os.environ)
    if import_from is not None:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(import_from), env.get("PYTHONPATH"))))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stderr[-4000:]}")
    return lines_of(done.stdout)


def record(names: Iterable[str] = EXAMPLES, *, verify: bool = False) -> list[str]:
    """Run the examples on real PyFlink, with the running interpreter; return the failures."""
    directory = find()
    if directory is None:
        raise RuntimeError("the examples of apache-flink are not found")
    failed = []
    for name in names:
        lines = run([sys.executable, str(directory / f"{name}.py")])
        if verify:
            if lines != recorded_lines(name):
                failed.append(f"{name}: printed {lines}")
        else:
            content = {"example": name, "flink": "2.3.0", "lines": lines}
            RECORDED.mkdir(exist_ok=True)
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            recorded_path(name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(lines)} lines", file=sys.stderr, flush=True)
    return failed
