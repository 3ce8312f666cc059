"""Waiting for conditions, so long that only a defect and no slow machine makes a test fail."""

from __future__ import annotations

import time

SECONDS = 300


def wait_for(look, job=None, until=bool, seconds=SECONDS):
    """Return the first result of ``look`` for which ``until`` is true. Fail soon if ``job``, a client, ends before."""
    end = time.monotonic() + seconds
    pause = 0.005
    while True:
        ended = job is not None and job.get_job_status().result().is_globally_terminal_state()
        seen = look()
        if until(seen):
            return seen
        if ended:
            raise AssertionError(f"the job ended, and {seen!r} is what was seen last: {_state(job)}") from _failure(job)
        if time.monotonic() > end:
            raise AssertionError(f"not in {seconds} s: {seen!r} is what was seen last; {_state(job)}")
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


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
