from __future__ import annotations

import io

from rich.console import Console

from flintstream.cli.progress import ProgressLine, progress_line


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
