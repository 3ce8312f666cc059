from __future__ import annotations

import io
import json
import logging
import sys
import threading
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import pyte
import pytest

from flintstream.cli.progress import JsonProgress, ProgressLine, progress_line
from flintstream.cli.terminal import StatusLine, Stream
from flintstream.common import JobStatus
from flintstream.common.job_listener import JobProgress


class Terminal(io.StringIO):
    """A terminal, and what a user sees on it."""

    def isatty(self):
        return True

    @property
    def seen(self):
        screen = pyte.Screen(80, 10)
        pyte.Stream(screen).feed(self.getvalue().replace("\n", "\r\n"))
        return "\n".join(line.rstrip() for line in screen.display).rstrip()


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


@contextmanager
def line_on(terminal):
    with redirect_stdout(terminal), redirect_stderr(terminal):
        with progress_line() as line:
            assert isinstance(line, ProgressLine)
            yield line
        assert sys.stdout is terminal


def test_the_line_shows_totals_and_disappears(terminal):
    with line_on(terminal) as line:
        line.update(3, 1_000_000, 42, 1_357_000_000_000)
        assert terminal.seen == "epoch 3  in 1,000,000  out 42  watermark 2013-01-01 00:26:40 UTC"
    assert terminal.seen == ""


def test_the_start_of_spark_is_said_at_once(terminal):
    with line_on(terminal) as line:
        line.on_starting("first")
        assert terminal.seen == "starting Spark ..."
        line.update(1, 0, 0, 0)
        line.close()
        line.on_starting("second")
        assert terminal.seen == "starting second ..."


def test_what_is_printed_appears_above_the_line(terminal):
    with line_on(terminal) as line:
        handler = logging.StreamHandler()  # keeps the stream of this moment
        line.on_starting("job")
        print("one")
        handler.emit(logging.makeLogRecord({"msg": "logged"}))
        sys.stdout.write("two ")
        assert terminal.seen == "one\nlogged\ntwo"
        line.update(1, 2, 3, 0)
        assert terminal.seen == "one\nlogged\ntwo"  # the line is not done
        sys.stderr.write("three\nfour\n")
        assert terminal.seen.splitlines()[:4] == ["one", "logged", "two three", "four"]
        assert terminal.seen.splitlines()[4].startswith("epoch 1")
    assert terminal.seen == "one\nlogged\ntwo three\nfour"


def test_a_line_that_is_too_long_is_cut(terminal):
    with line_on(terminal) as line:
        line.on_starting("job")
        line.update(1, 10**40, 10**40, 0)
        assert len(terminal.seen) == 79


def test_without_an_update_nothing_is_written(terminal):
    with line_on(terminal):
        pass
    assert terminal.getvalue() == ""


def test_a_process_that_was_forked_writes_although_the_lock_is_held(terminal):
    line = StatusLine(terminal)
    line._owner = 0
    held = threading.Thread(target=line._lock.acquire)
    held.start()
    held.join()
    assert Stream(terminal, line).write("x") == 1


def test_there_is_no_line_where_nobody_looks(capsys):
    with progress_line() as line:
        assert line is None
    assert capsys.readouterr() == ("", "")


def test_watermarks_beyond_the_calendar_do_not_fail(terminal):
    with line_on(terminal) as line:
        line.update(1, 0, 0, 10**18)
        assert "watermark 1000000000000000000 ms" in terminal.seen


def progress(epochs, status=JobStatus.RUNNING, watermark=None):
    return JobProgress("0" * 32, "counts", status, epochs, 0, 2, 17, 5, watermark)


def test_the_life_of_a_job_is_written_as_lines_of_json():
    stream = io.StringIO()
    written = JsonProgress(stream, 3600)
    for epochs in range(1, 4):
        written.on_progress(progress(epochs, watermark=1000))
    written.on_job_executed(progress(4, JobStatus.FAILED), None, ValueError("no\nnumber"))
    first, last = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert first.pop("time_ms") > 1_700_000_000_000
    assert first == {
        "event": "progress",
        "job_id": "0" * 32,
        "job_name": "counts",
        "status": "RUNNING",
        "epochs": 1,
        "restarts": 0,
        "checkpoints": 2,
        "records_in": 17,
        "records_out": 5,
        "watermark": 1000,
    }
    assert (last["event"], last["epochs"], last["status"]) == ("executed", 4, "FAILED")
    assert (last["error"], last["runtime_ms"]) == ("ValueError: no\nnumber", None)
