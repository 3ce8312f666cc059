"""Waiting for conditions, so long that only a defect and no slow machine makes a test fail."""

from __future__ import annotations

import time
from pathlib import Path

SECONDS = 300


LOG_LINES = 40
"""How much of a log explains why its process has ended."""


def wait_for(look, job=None, until=bool, seconds=SECONDS, *, processes=(), log=None):
    """Return the first result of ``look`` for which ``until`` is true.

    Fail at once if something that this depends on ends before: ``job``, a client, or one of ``processes``. ``log`` is
    the path of their log, or a function that returns its text; the failure shows its end.
    """
    end = time.monotonic() + seconds
    pause = 0.005
    while True:
        gone = next((process for process in processes if process.poll() is not None), None)
        ended = job is not None and job.get_job_status().result().is_globally_terminal_state()
        seen = look()
        if until(seen):
            return seen
        if gone is not None:
            what = f"process {gone.pid} ended with code {gone.returncode}, and {seen!r} is what was seen last"
            raise AssertionError(f"{what}{_end_of(log)}")
        if ended:
            raise AssertionError(f"the job ended, and {seen!r} is what was seen last: {_state(job)}") from _failure(job)
        if time.monotonic() > end:
            raise AssertionError(f"not in {seconds} s: {seen!r} is what was seen last; {_state(job)}{_end_of(log)}")
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _end_of(log):
    """Return the last lines of a log, for a message."""
    if log is None:
        return ""
    try:
        text = log() if callable(log) else Path(log).read_text(errors="replace")
    except OSError as error:
        return f"; there is no log ({error})"
    return "\n".join(["; its log ends with", *text.splitlines()[-LOG_LINES:]])


def wait_for_numbers(job, **least):
    """Wait until the accumulators of a job have at least these values; return them all."""

    def enough(numbers):
        return all(numbers.get(name, 0) >= number for name, number in least.items())

    return wait_for(lambda: numbers_of(job), job, enough)


def numbers_of(job):
    """Return the accumulators of a job."""
    return job.get_accumulators().result()


def _state(job):
    return "" if job is None else f"{job.get_job_status().result().name}, {numbers_of(job)}"


def _failure(job):
    try:
        job.get_job_execution_result().result()
    except BaseException as error:  # noqa: BLE001 - it explains what the test has seen
        return error
    return None
