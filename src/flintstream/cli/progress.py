"""Progress line of a running job on the terminal."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO, cast

from flintstream.cli.terminal import StatusLine, Stream
from flintstream.common._text.strict_json import json_text
from flintstream.common._text.watermarks import watermark_text
from flintstream.common.constants import MIN_LONG_VALUE
from flintstream.common.job_listener import JobListener
from flintstream.errors import message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.common.job_client import JobClient
    from flintstream.common.job_execution_result import JobExecutionResult
    from flintstream.common.job_status import JobProgress


class ProgressLine(JobListener):
    """Shows the latest progress at the bottom of a terminal."""

    def __init__(self, line: StatusLine, seconds: float = 0.25) -> None:
        """Show progress on ``line``, and change it at most once in this time."""
        self._line = line
        self._seconds = seconds
        self._changed = -seconds
        self._spark_runs = False

    def on_starting(self, job_name: str) -> None:
        """Show that a job starts, which takes seconds for the first one."""
        self._line.show(f"starting {job_name} ..." if self._spark_runs else "starting Spark ...")

    def on_progress(self, progress: JobProgress) -> None:
        """Show the progress of a job."""
        watermark = MIN_LONG_VALUE if progress.watermark is None else progress.watermark
        self.update(progress.epochs, progress.records_in, progress.records_out, watermark)

    def on_job_executed(
        self,
        progress: JobProgress,
        result: JobExecutionResult | None,
        error: BaseException | None,
    ) -> None:
        """Remove the line."""
        self.close()

    def update(self, epochs: int, records_in: int, records_out: int, watermark_ms: int) -> None:
        """Show totals since the job started, and the lowest watermark (ms since the epoch)."""
        self._spark_runs = True
        now = time.monotonic()
        if now - self._changed >= self._seconds:
            self._changed = now
            watermark = watermark_text(watermark_ms)
            self._line.show(f"epoch {epochs:,}  in {records_in:,}  out {records_out:,}  watermark {watermark}")

    def close(self) -> None:
        """Remove the line."""
        self._line.close()


class JsonProgress(JobListener):
    """Writes the life of jobs as lines of JSON: ``submitted``, ``progress`` once a second, and ``executed``."""

    def __init__(self, stream: TextIO, seconds: float = 1.0) -> None:
        """Write to ``stream``, and ``progress`` at most once in this time."""
        self._stream = stream
        self._seconds = seconds
        self._written: dict[str, float] = {}

    def on_starting(self, job_name: str) -> None:
        """Write nothing: ``submitted`` follows."""

    def on_job_submitted(self, job_client: JobClient | None, error: BaseException | None) -> None:
        """Write that a job has started, or why it has not."""
        job_id = None if job_client is None else str(job_client.get_job_id())
        self._write("submitted", {"job_id": job_id, "error": _text(error)})

    def on_progress(self, progress: JobProgress) -> None:
        """Write how far a job is."""
        now = time.monotonic()
        if now - self._written.get(progress.job_id, -self._seconds) >= self._seconds:
            self._written[progress.job_id] = now
            self._write("progress", _to_json(progress))

    def on_job_executed(
        self, progress: JobProgress, result: JobExecutionResult | None, error: BaseException | None
    ) -> None:
        """Write how a job has ended."""
        runtime_ms = None if result is None else result.get_net_runtime()
        self._write("executed", {**_to_json(progress), "runtime_ms": runtime_ms, "error": _text(error)})

    def _write(self, event: str, content: dict[str, Any]) -> None:
        line = json_text({"event": event, "time_ms": time.time_ns() // 1_000_000, **content})
        self._stream.write(f"{line}\n")
        self._stream.flush()


def _to_json(progress: JobProgress) -> dict[str, Any]:
    return {**asdict(progress), "status": progress.status.name}


def _text(error: BaseException | None) -> str | None:
    return None if error is None else f"{type(error).__name__}: {message_of(error)}"


@contextmanager
def progress_line(form: str = "auto") -> Iterator[ProgressLine | JsonProgress | None]:
    """Yield a listener that shows progress on standard error for the duration of the block, or None.

    Args:
        form: ``json`` for lines of JSON, ``none``, or ``auto`` for a line if standard error is a terminal.
    """
    if form == "json":
        yield JsonProgress(sys.stderr)
        return
    if form == "none" or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    line = StatusLine(sys.stderr)
    streams = sys.stdout, sys.stderr
    # From the start: a handler of logging keeps the stream that it finds.
    sys.stderr = cast("TextIO", Stream(sys.stderr, line))
    if sys.stdout.isatty():
        sys.stdout = cast("TextIO", Stream(sys.stdout, line))
    progress = ProgressLine(line)
    try:
        yield progress
    finally:
        progress.close()
        sys.stdout, sys.stderr = streams
