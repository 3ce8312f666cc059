"""Another user cannot take the place of the driver of resident tasks, nor that of a task."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.engine.conftest import maker
from tests.engine.test_resident_tasks_on_spark import SETTINGS, Sums, expected, stream
from tests.second_user import start_as_second_user, two_users

from flintstream.engine.spark.resident import residency
from flintstream.engine.spark.resident.resident_tasks import ResidentTasks

WAITS = "waits"
"""The name of a file that shows that the second user has done all it can."""


class Writes:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def take_the_place_of_the_driver(address, directory, bomb):
    """Connect to the driver with a bomb, and send one to each process that takes this one for the driver."""
    import socket
    import time
    from contextlib import suppress
    from pathlib import Path

    length = len(bomb) // 2
    message = length.to_bytes(8, "big") + bytes.fromhex(bomb)
    notes = set()
    family, place = (socket.AF_UNIX, address) if isinstance(address, str) else (socket.AF_INET, tuple(address))
    bound = None
    until = time.monotonic() + 4
    while bound is None and time.monotonic() < until:
        with suppress(OSError), socket.socket(family) as caller:
            caller.settimeout(1)
            try:
                caller.connect(place)
                notes.add("connected")
            except PermissionError:
                notes.add("not connected")
            caller.sendall(bytes(64) + message)
            caller.recv(1 << 16)
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(place)
            listener.listen()
            bound = listener
            notes.add("bound")
        except OSError as error:
            notes.add(type(error).__name__)
            listener.close()
            time.sleep(0.1)
    Path(directory, "waits").touch()
    until = time.monotonic() + 60
    while bound is not None and not Path(directory, "done").exists() and time.monotonic() < until:
        bound.settimeout(0.2)
        with suppress(OSError):
            connection, _ = bound.accept()
            notes.add("found")
            connection.settimeout(5)
            with connection, suppress(OSError):
                connection.sendall(message)
                connection.recv(1 << 16)
    return sorted(notes)


class DiesWhenTheStrangerWaits(Sums):
    """Kill the process of a task once, when another user waits for the next one."""

    def __init__(self, directory):
        super().__init__()
        self.directory = directory

    def process_element(self, value, ctx):
        if value % 10 == 0 and Path(self.directory, WAITS).exists():
            try:
                Path(self.directory, "killed").touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        yield from super().process_element(value, ctx)


@pytest.fixture
def meeting_place():
    directory = tempfile.mkdtemp(prefix="two-users-")
    Path(directory).chmod(0o777)
    yield directory
    shutil.rmtree(directory)


@pytest.mark.promise("S12")
@two_users
@pytest.mark.spark
@pytest.mark.kills
@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_task_that_spark_runs_again_runs_no_code_of_a_user_who_waits_for_it(
    transport, meeting_place, tmp_path, monkeypatch
):
    if transport == "tcp":
        monkeypatch.setattr(residency, "new_socket_path", lambda: None)
    evidence = tmp_path / "code of a stranger ran"
    bomb = pickle.dumps(Writes(str(evidence))).hex()
    strangers: list[subprocess.Popen[str]] = []
    run_tasks = ResidentTasks._run_tasks

    def run(tasks, function, task, *rest):
        if not strangers:
            address = task.driver.address
            strangers.append(start_as_second_user(take_the_place_of_the_driver, address, meeting_place, bomb))
        return run_tasks(tasks, function, task, *rest)

    monkeypatch.setattr(ResidentTasks, "_run_tasks", run)
    settings = {
        **SETTINGS,
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": tmp_path.as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "100 ms",
    }
    records = 3000
    env = maker("spark")(2, settings)
    with stream(env, DiesWhenTheStrangerWaits(meeting_place), records).execute_and_collect() as results:
        assert sorted(results) == expected(records)
    assert Path(meeting_place, "killed").exists()
    Path(meeting_place, "done").touch()
    with strangers[0] as stranger:
        output, errors = stranger.communicate(timeout=100)
    assert stranger.returncode == 0, errors
    assert not evidence.exists()
    assert output == {"unix": '["PermissionError", "not connected"]\n', "tcp": '["OSError", "connected"]\n'}[transport]
