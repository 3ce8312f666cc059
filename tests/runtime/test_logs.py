"""Workers log as the driver does, in whole lines that say where they are from."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.datastream.inline import stop_the_clock

import flintstream
from flintstream.coordinator.monitoring import output_file
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.runtime import logs
from flintstream.runtime.logs import LINE, LogSetup, Place, WholeLines, enter_place, line_formatter
from flintstream.runtime.process_setup import ProcessSetup


@contextmanager
def logging_of(*handlers, level=logging.WARNING):
    """Replace the logging of this process."""
    root = logging.getLogger()
    before, old_level, disabled = root.handlers[:], root.level, root.manager.disable
    root.handlers[:], root.level = handlers, level
    try:
        yield root
    finally:
        for handler in root.handlers:
            handler.close()
        root.handlers[:] = before
        root.setLevel(old_level)
        logging.disable(disabled)
        logging.getLogger("flintstream").setLevel(logging.NOTSET)
        enter_place(Place())


def written(setup, capfd, message="hello %s", logger="mine", level=logging.INFO):
    """Return what a worker with this setup writes."""
    with logging_of():
        setup.enter()
        enter_place(Place("counts", "0" * 32, "map -> filter", 1, 4, 113))
        logging.getLogger(logger).log(level, message, "you")
    return capfd.readouterr().err


def handler(format=None, kind=logging.Formatter, **options):
    made = logging.StreamHandler(sys.stderr)
    if format is not None:
        made.setFormatter(kind(format, **options))
    return made


def test_information_arrives_with_its_place_if_the_program_sets_nothing(capfd):
    with logging_of():
        setup = LogSetup.here()
    line = written(setup, capfd)
    assert line.endswith(" INFO    mine [counts, map -> filter 2/4, epoch 113] hello you\n")
    assert written(setup, capfd, level=logging.DEBUG) == ""
    assert written(setup, capfd, logger="flintstream.connectors") == ""


def test_the_level_and_the_format_are_the_drivers(capfd):
    with logging_of(handler("%(levelname)s|%(message)s"), level=logging.ERROR):
        setup = LogSetup.here()
    assert written(setup, capfd, level=logging.WARNING) == ""
    assert written(setup, capfd, level=logging.ERROR) == "ERROR|[counts, map -> filter 2/4, epoch 113] hello you\n"


@pytest.mark.parametrize(
    ("format", "style", "line"),
    [
        ("%(operator)s@%(epoch)s: %(message)s", "%", "map -> filter@113: hello you\n"),
        ("{job} {subtask}: {message}", "{", "counts 2/4: hello you\n"),
        ("$job_id: $message", "$", f"{'0' * 32}: hello you\n"),
        ("{levelname}", "{", "INFO\n"),
    ],
)
def test_a_format_may_have_the_place_where_it_likes(format, style, line, capfd):
    with logging_of(handler(format, style=style, defaults={"operator": "", "epoch": ""}), level=logging.INFO):
        setup = LogSetup.here()
    assert written(setup, capfd) == line


class Loud(logging.Formatter):
    def format(self, record):
        return f"{record.getMessage().upper()} {record.job} {record.epoch}"


def test_a_formatter_of_the_program_is_used_as_it_is(capfd):
    with logging_of(handler("", Loud), level=logging.INFO):
        setup = LogSetup.here()
    assert written(setup, capfd) == "HELLO YOU counts 113\n"


def test_levels_of_loggers_and_of_handlers_count(capfd):
    strict = handler("%(message)s")
    strict.setLevel(logging.WARNING)
    logging.getLogger("mine.quiet").setLevel(logging.CRITICAL)
    try:
        with logging_of(strict, level=logging.DEBUG):
            setup = LogSetup.here()
        assert written(setup, capfd) == ""
        assert "hello" in written(setup, capfd, level=logging.WARNING)
        assert written(setup, capfd, level=logging.ERROR, logger="mine.quiet") == ""
    finally:
        logging.getLogger("mine.quiet").setLevel(logging.NOTSET)


def test_workers_append_to_the_drivers_file(tmp_path, capfd):
    file = tmp_path / "log"
    driver = logging.FileHandler(file, "w")
    driver.setFormatter(logging.Formatter("%(message)s"))
    with logging_of(driver, level=logging.INFO) as root:
        setup = LogSetup.here()
        root.info("first")
        with logging_of():
            setup.enter()
            logging.getLogger().info("second")
        root.info("third")
    assert file.read_text() == "first\nsecond\nthird\n"
    assert capfd.readouterr().err == ""


def test_the_setup_of_the_next_job_replaces_the_one_before(capfd):
    with logging_of() as root:
        LogSetup().enter()
        LogSetup(level=logging.ERROR).enter()
        assert len(root.handlers) == 1
        root.warning("not shown")
    assert capfd.readouterr().err == ""


def test_the_setup_of_a_process_has_its_logging():
    with logging_of(handler("%(message)s"), level=logging.DEBUG):
        assert ProcessSetup.here().logs.format == ("%(message)s", None, "%")
    with logging_of(handler()):
        assert LogSetup.here().format is None
    formatted = handler()
    formatted.setFormatter(line_formatter())
    with logging_of(formatted):
        assert LogSetup.here().format is None
    assert "%(place)s" in LINE


WRITER = """
import sys
from flintstream.runtime.logs import WholeLines
lines = WholeLines(int(sys.argv[1]))
for number in range(200):
    lines.write((sys.argv[2] * (20_000 if number % 10 == 0 else 50) + "\\n").encode())
"""


@pytest.mark.slow
def test_no_line_is_cut_by_the_line_of_another_process():
    reading, writing = os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])}
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(writing), letter], pass_fds=[writing], env=environment)  # noqa: S603
        for letter in "abc"
    ]
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(lines) == 600
    assert {len(set(line)) for line in lines} == {1}


def test_threads_of_a_process_write_whole_lines(tmp_path):
    reading, writing = os.pipe()
    lines = WholeLines(writing)
    threads = [
        threading.Thread(target=lambda text=text: [lines.write(text) for _ in range(50)])
        for text in (b"a" * 9_000 + b"\n", b"b" * 30 + b"\n")
    ]
    for thread in threads:
        thread.start()

    def end():
        for thread in threads:
            thread.join()
        lines.close()  # it has the pipe open, too
        os.close(writing)

    threading.Thread(target=end).start()
    with os.fdopen(reading, encoding="utf-8") as pipe:
        assert {len(set(line)) for line in pipe.read().splitlines()} == {1}


def test_a_pipe_without_a_reader_takes_lines_and_drops_them():
    reading, writing = os.pipe()
    lines = WholeLines(writing)
    os.close(reading)
    assert lines.write(b"gone\n") == 5
    lines.close()
    os.close(writing)


def where(value):
    print("at", logs._place[0].operator(sys._getframe()))
    return value


def operators_that_log(chained, capsys):
    """Return the operators that a program's lines name."""

    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.set_parallelism(1)
    stream = env.from_collection([1]).map(where).name("first").map(where).name("second")
    chained(stream)
    env.execute("places")
    return [line[3:] for line in capsys.readouterr().out.splitlines() if line.startswith("at ")]


def test_the_operator_is_found_in_a_loop_of_several_functions(capsys):
    found = operators_that_log(lambda stream: stream.filter(where).name("third").print(), capsys)
    assert found == ["first", "second", "third"]


def test_the_operator_is_found_behind_an_exchange(capsys):
    found = operators_that_log(
        lambda stream: stream.key_by(lambda value: value).map(where).name("keyed").print(), capsys
    )
    assert found == ["first", "second", "keyed"]


def test_nothing_is_looked_up_unless_something_is_logged(monkeypatch):
    """Only a place is noted, once per subtask and epoch."""
    stop_the_clock(monkeypatch)  # so that one epoch is enough
    noted: list[Place] = []
    monkeypatch.setattr("flintstream.runtime.task.stage.enter_place", noted.append)
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.set_parallelism(2)
    env.from_collection(range(1000)).map(lambda value: value).key_by(lambda value: value).sum().print()
    env.execute("places")
    assert len(noted) <= 2 * 3
    assert {(place.job, place.parallelism) for place in noted} <= {("places", 1), ("places", 2)}


@pytest.mark.promise("S36")
def test_a_lock_that_another_process_holds_on_the_log_file_holds_up_no_worker(tmp_path):
    path = tmp_path / "job.log"
    path.touch()
    with path.open() as reader:
        fcntl.flock(reader, fcntl.LOCK_EX)
        log = os.open(path, os.O_WRONLY | os.O_APPEND)
        writer = threading.Thread(target=lambda: WholeLines(log).write(b"a line\n"), daemon=True)
        writer.start()
        writer.join(20)
        assert not writer.is_alive()
        os.close(log)
    assert path.read_text() == "a line\n"


@pytest.mark.promise("S36")
def test_a_pipe_that_other_users_can_open_is_not_locked(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for mode, locked in ((0o600, True), (0o622, False)):
        (tmp_path / "pipe").chmod(mode)
        pipe = os.open(tmp_path / "pipe", os.O_RDWR)
        lines = WholeLines(pipe)
        assert (lines._lock is not None) is locked
        lines.close()
        os.close(pipe)


def test_processes_that_append_long_lines_to_a_file_without_a_lock_do_not_mix_them(tmp_path):
    path = tmp_path / "job.log"
    code = (
        "import os, sys\nfrom flintstream.runtime.logs import WholeLines\n"
        "lines = WholeLines(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT))\n"
        "for _ in range(200): lines.write(sys.argv[2].encode() * 50_000 + b'\\n')\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, path, letter]) for letter in "abc"]  # noqa: S603
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = path.read_text().splitlines()
    assert sorted(lines) == [letter * 50_000 for letter in "abc" for _ in range(200)]


@pytest.mark.promise("S36")
@pytest.mark.parametrize("opening", [logs._open_to_append, output_file.open_for_output])
def test_a_pipe_in_the_place_of_a_log_file_does_not_hold_up_its_writer(tmp_path, opening):
    os.mkfifo(tmp_path / "job.log")
    found = []

    def begin():
        try:
            found.append(opening(str(tmp_path / "job.log")))
        except OSError as error:
            found.append(error.errno)

    writer = threading.Thread(target=begin, daemon=True)
    writer.start()
    writer.join(20)
    assert found == [errno.ENXIO]
