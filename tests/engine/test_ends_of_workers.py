"""The daemon of the Python workers reports how they end."""

from __future__ import annotations

import io
import struct
import subprocess
import sys

import pytest

from flintstream.engine.spark import versions
from flintstream.engine.spark.failures.ends import directory_of_reports, end_in, end_of_process
from flintstream.engine.spark.versions import task_of

DAEMON = """
import ctypes, faulthandler, os, signal, sys
from flintstream.engine.spark.failures.ends import NO_NUMBER, Children, note_task

directory, reports = sys.argv[1], sys.argv[2] or None
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # as Spark's daemon does
Children(directory, reports).watch()

ENDS = {
    1: lambda: os._exit(3),
    2: lambda: os.kill(os.getpid(), signal.SIGKILL),
    3: lambda: ctypes.string_at(0),
    4: lambda: os._exit(0),
    5: lambda: os.kill(os.getpid(), signal.SIGHUP),
    6: lambda: (note_task(directory, NO_NUMBER), os._exit(1)),
}
children = []
for number, end in ENDS.items():
    children.append(os.fork())
    if not children[-1]:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        note_task(directory, number)
        end()
for child in children:
    while True:
        try:
            os.kill(child, 0)  # also works for a zombie
        except ProcessLookupError:
            break
"""


def ends(tmp_path, reports):
    """Let a daemon see the ends of its workers; return what it writes to its log."""
    command = [sys.executable, "-c", DAEMON, str(tmp_path), reports]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - our own program
    return done.stderr


def test_the_daemon_reports_the_end_of_each_worker_that_ran_a_task_and_leaves_no_zombie(tmp_path):
    reports = tmp_path / "reports"
    reports.mkdir()
    assert ends(tmp_path, str(reports)) == ""
    assert {path.name: path.read_text().split()[0] for path in reports.iterdir()} == {
        "1": "3",
        "2": "-9",
        "3": "-11",
        "4": "0",
    }
    assert not list(tmp_path.glob("*.task"))


@pytest.mark.parametrize("reports", ["", "/nowhere"], ids=["cluster", "driver has ended"])
def test_without_a_directory_of_the_driver_the_log_of_the_executor_says_how_a_worker_ended(tmp_path, reports):
    log = ends(tmp_path, reports)
    assert " of task 1 exited with code 3\n" in log
    assert " of task 2 was killed by signal 9 (SIGKILL)\n" in log
    assert " of task 3 crashed with signal 11 (SIGSEGV)\n" in log
    assert " of task 5 " not in log  # the end of all workers
    assert " of task 6 " not in log


def test_reports_are_in_a_private_directory_for_each_application():
    first, second = directory_of_reports("app-1"), directory_of_reports("app-2")
    assert first is not None
    assert first == directory_of_reports("app-1")
    assert first != second


def test_a_report_that_does_not_come_is_not_waited_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr("flintstream.engine.spark.failures.ends.REPORT_SECONDS", 0.0)
    assert end_in(str(tmp_path), 7) is None
    (tmp_path / "7").write_text("-9 4321")
    assert end_in(str(tmp_path), 7) == (-9, 4321)
    assert end_of_process(str(tmp_path), 4321) == (-9, 4321)
    assert end_of_process(str(tmp_path), 4322) is None


class Head:
    """The head of a task, as the daemon reads it."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def bytes(self, count):
        return self.file.read(count)

    def integer(self):
        return struct.unpack("!i", self.file.read(4))[0]

    def text(self):
        return self.file.read(self.integer()).decode()


def text(value):
    return struct.pack("!i", len(value)) + value.encode()


def test_the_number_of_a_task_is_read_from_the_fields_of_older_releases(monkeypatch):
    monkeypatch.setattr(versions, "release", lambda: (4, 1))
    stage, partition, attempt, number, cores, resources, properties = 5, 2, 0, 1 << 33, 1, 0, 1
    fields = struct.pack("!iiiqiii", stage, partition, attempt, number, cores, resources, properties)
    task = task_of(partition, Head(text("3.12") + b"\0" + fields + text("flintstream.slot") + text("0/8")))
    assert task == ({"flintstream.slot": "0/8"}, partition, number)
