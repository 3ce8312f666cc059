"""Another user who can read the log file of a job cannot stop the job with it."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest
from tests.second_user import start_as_second_user, two_users

from flintstream.runtime.logs import WholeLines


@pytest.fixture
def shared():
    directory = tempfile.mkdtemp(prefix="two-users-")
    Path(directory).chmod(0o755)
    yield Path(directory)
    shutil.rmtree(directory)


@pytest.mark.promise("S36")
@two_users
def test_a_lock_of_another_user_on_the_log_file_does_not_stop_a_worker(shared):
    def lock(path):
        import fcntl
        import time
        from pathlib import Path

        with Path(path).open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            print("locked", flush=True)
            time.sleep(600)

    log = os.open(shared / "job.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    with start_as_second_user(lock, str(shared / "job.log")) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        writer = threading.Thread(target=lambda: WholeLines(log).write(b"a line\n"), daemon=True)
        writer.start()
        writer.join(20)
        stopped = writer.is_alive()
        holder.kill()
    os.close(log)
    assert not stopped
    assert (shared / "job.log").read_text() == "a line\n"
