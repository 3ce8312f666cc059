"""Run programs one after another in this process: ``one_process.py OUTPUT ERRORS [ENGINE]``.

They share one JVM, whose start is most of the time of a small program. A line on standard input names a program, a line
on standard output has its result. ``tests.corpus.running`` starts this file, with the Python of flintstream or that of
PyFlink (without an engine), and so it imports nothing of the tests.

What all programs print goes to one file, because a JVM keeps the output that it began with. Results have the places.
A JVM keeps the directory that it began in, too, and so does each process that it starts: it begins before the first
program. PyFlink finds no file by a relative path then; its programs with such paths need a process each.
"""

from __future__ import annotations

import json
import logging
import os
import runpy
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

PRINT_SECONDS = 0.5
"""Seconds that the JVM gets to print what it still has."""


class LateError(BaseException):
    """A program has used up its time."""


def main(output: str, errors: str, engine: str = "") -> None:
    entries, results = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w", buffering=1)
    for number, place in enumerate((os.devnull, output, errors)):
        os.dup2(os.open(place, os.O_RDONLY if number == 0 else os.O_CREAT | os.O_WRONLY | os.O_APPEND), number)
    signal.signal(signal.SIGALRM, _late)
    run = _flintstream(engine) if engine else _pyflink()
    for entry in entries:
        results.write(json.dumps(_one(json.loads(entry), run)) + "\n")
    os._exit(0)  # jobs that a program has left behind end with the process


def _one(entry: dict[str, Any], run: Any) -> dict[str, Any]:
    """Run a program; return its exit code (None: it was late) and the places of what it printed."""
    code: int | None = 0
    places = [os.lseek(number, 0, os.SEEK_END) for number in (1, 2)]
    path, modules, environment = list(sys.path), set(sys.modules), dict(os.environ)
    os.chdir(entry["directory"])
    sys.path[:0] = entry["path"]
    signal.alarm(entry["seconds"])
    try:
        run(entry["script"], entry["args"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except LateError:
        code = None
    except BaseException:  # noqa: BLE001 - whatever a program raises
        traceback.print_exc()
        code = 1
    finally:
        signal.alarm(0)
    sys.stdout.flush()
    time.sleep(PRINT_SECONDS)
    sys.path[:] = path
    os.environ.clear()
    os.environ.update(environment)
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(entry["repository"]):
            del sys.modules[name]  # the next program may have a module of the same name
    for handler in logging.root.handlers[:]:
        logging.root.removeHandler(handler)
    ends = [os.lseek(number, 0, os.SEEK_END) for number in (1, 2)]
    return {"code": code, "output": [places[0], ends[0]], "errors": [places[1], ends[1]]}


def _late(*_: Any) -> None:
    raise LateError


def _pyflink() -> Any:
    """Start PyFlink's JVM; return a function that does what ``python`` does."""
    from pyflink.java_gateway import get_gateway

    get_gateway()

    def run(script: str, args: list[str]) -> None:
        sys.argv = [script, *args]
        sys.path.insert(0, str(Path(script).parent))
        runpy.run_path(script, run_name="__main__")

    return run


def _flintstream(engine: str) -> Any:
    """Start Spark, with a job; return a function that does what ``flintstream run`` does."""
    from flintstream.cli.python_program import run_script
    from flintstream.compat.pyflink import install
    from flintstream.coordinator import client
    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.options.command_line import set_defaults

    install()
    set_defaults({} if engine == "spark" else {"flintstream.engine": engine}, "local[2]", None, [])
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).map(str).filter(lambda text: False).print()
    env.execute("begin")

    def run(script: str, args: list[str]) -> None:
        try:
            run_script(script, args, [])
            client.wait_for_lasting()
        except LateError:
            client.cancel_all()
            raise

    return run


if __name__ == "__main__":
    main(*sys.argv[1:])
