from __future__ import annotations

import io
import json

from rich.console import Console

from flintstream.cli.progress import JsonProgress, ProgressLine, progress_line
from flintstream.common import JobStatus
from flintstream.common.job_listener import JobProgress


def test_the_line_shows_totals_and_disappears():
    terminal = io.StringIO()
    line = ProgressLine(Console(file=terminal, force_terminal=True, width=100))
    line.update(3, 1_000_000, 42, 1_357_000_000_000)
    line.close()
    assert "epoch 3  in 1,000,000  out 42  watermark 2013-01-01 00:26:40 UTC" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K") or "\x1b[1A" in terminal.getvalue()


def test_without_an_update_nothing_is_written():
    terminal = io.StringIO()
    ProgressLine(Console(file=terminal, force_terminal=True)).close()
    assert terminal.getvalue() == ""


def test_there_is_no_line_where_nobody_looks(capsys):
    with progress_line() as line:
        assert line is None
    assert capsys.readouterr() == ("", "")


def test_watermarks_beyond_the_calendar_do_not_fail():
    terminal = io.StringIO()
    line = ProgressLine(Console(file=terminal, force_terminal=True, width=100))
    line.update(1, 0, 0, 10**18)
    line.close()
    assert "watermark 1000000000000000000 ms" in terminal.getvalue()


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
