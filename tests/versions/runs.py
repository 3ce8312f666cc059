"""What runs on each release of Spark: a choice of tests, or all conformance programs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from tests.versions.environments import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CONFORMANCE = "tests/conformance/test_conformance.py"
TOGETHER = f"{CONFORMANCE}::test_programs_of_one_job_give_what_pyflink_gives_each"
PROGRAMS_PER_JOB = 30

JOBS = ("STREAMING-1-0-0", "BATCH-2-3-0")
"""Jobs that run the first thirty programs of a mode and a parallelism together."""

OTHERS = (
    "tests/engine/test_sticky_subtasks.py::test_a_subtask_stays_in_its_process_over_all_epochs",
    "tests/engine/test_sticky_subtasks.py::test_a_worker_that_is_killed_is_replaced[this_process]",
    "tests/engine/test_recovery.py::test_a_job_that_fails_goes_on_from_its_last_checkpoint[spark-rocksdb]",
    "tests/engine/test_resume.py::test_a_resumed_job_is_the_same_job_and_leaves_nothing_behind[spark-rocksdb]",
    "tests/engine/test_data_frames.py::test_a_frame_becomes_a_stream_and_the_same_frame_again[spark]",
    "tests/engine/test_data_frames.py::test_spark_reads_the_sink_as_a_stream[spark]",
    "tests/engine/test_session.py::test_settings_of_spark_submit_hold",
    "tests/engine/test_sockets.py::test_no_socket_or_file_of_a_job_is_open_to_another_user_and_no_socket_is_left",
)
"""State that stays in its process and in RocksDB, checkpoints, DataFrames, spark-submit, sockets."""

TOGETHER_CHOICE = tuple(f"{TOGETHER}[{job}]" for job in JOBS)

CHOICE = (*TOGETHER_CHOICE, *OTHERS)

LIMIT_SECONDS = 3600

LEAST_SECONDS = 60
"""No tests begin with less time."""

OF_SPARK = "ignore:distutils Version classes are deprecated:DeprecationWarning"
"""What PySpark 3.5 warns of when it converts a schema."""


class Outcome(NamedTuple):
    """The result of the tests on one release."""

    failed: int
    passed: int
    seconds: float
    output: str


def all_programs() -> list[str]:
    """Return the tests that run every conformance program, most of them many in a job."""
    from tests.conformance import harness, ours

    with ours.alias():
        programs = harness.load_programs().values()
    alone = [
        f"{CONFORMANCE}::test_program_gives_what_pyflink_gives[{program.name}-{run}-spark]"
        for program in programs
        if not program.can_share_a_job
        for run in harness.runs_of(program)
    ]
    return [TOGETHER, *alone, *OTHERS]


def run(spark: str, tests: Iterable[str], seconds: float = LIMIT_SECONDS * 4, *, connect: bool = False) -> Outcome:
    """Run tests with a release of Spark, or on a Spark Connect server of that release.

    Raises:
        NoEnvironmentError: It cannot be had on this machine.
        TimeoutError: The tests took longer than this. Their processes are ended.
    """
    begun = time.monotonic()
    python = environment(spark, seconds)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYSPARK_", "SPARK_"))}
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    left = seconds - (time.monotonic() - begun)
    if left < LEAST_SECONDS:
        raise TimeoutError("there is no time for its tests")
    begun = time.monotonic()
    server: list[str | Path] = [python, "-m", "tests.connect_server"] if connect else []
    with subprocess.Popen(  # noqa: S603 - tests of this project
        [*server, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", OF_SPARK, "--timeout", "900", *tests],
        cwd=ROOT,
        env={**kept, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "VIRTUAL_ENV": str(python.parent.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as tested:
        try:
            output, _ = tested.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            # A server has a session of its own, so its parent needs the time to end it.
            os.killpg(tested.pid, signal.SIGINT if connect else signal.SIGKILL)
            raise TimeoutError(f"its tests did not end within {left:.0f} s") from None
    counts = {kind: int(count) for count, kind in re.findall(r"(\d+) (passed|failed|error|errors)\b", output)}
    failed = sum(count for kind, count in counts.items() if kind != "passed")
    return Outcome(failed or int(tested.returncode != 0), counts.get("passed", 0), time.monotonic() - begun, output)
