"""Running jobs are listed, saved, stopped and cancelled from the command line."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.engine.tally import expected, ordered, tally
from tests.waiting import wait_for, wait_for_numbers

from flintstream.channels.channel import Endpoint, connect
from flintstream.channels.listener import Listener
from flintstream.checkpoint.metadata import METADATA
from flintstream.cli import main
from flintstream.common import JobStatus
from flintstream.coordinator import asking, registry
from flintstream.coordinator.client import cancel_all
from flintstream.coordinator.monitoring import history
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.errors import CheckpointError, FlintstreamError, JobCancelledError

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def jobs_directory(tmp_path, monkeypatch):
    directory = tmp_path / "jobs"
    monkeypatch.setenv(registry.DIRECTORY, str(directory))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))
    return directory


@pytest.fixture
def start(tmp_path):
    """Start endless jobs on the inline engine; they are cancelled at the end of the test."""
    clients = []

    def start(name, sink=None, *, limit=None, **more):
        settings = {
            "flintstream.engine": "inline",
            "flintstream.epoch.idle-duration": "20",
            "execution.checkpointing.interval": "50 ms",
            "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
            "flintstream.resume": "true",
            **{key.replace("__", "-").replace("_", "."): value for key, value in more.items()},
        }
        settings = {key: value for key, value in settings.items() if value is not None}
        env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)
        sink = tally(env, limit, 0.01, sink=sink)
        client = env.execute_async(name)
        clients.append((client, sink))
        return client, sink

    yield start
    for client, _ in clients:
        client.cancel().result()


def flintstream(*arguments, code=0):
    """Run a command and return its standard output, or its error."""
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def record_count(client):
    return client.get_accumulators().result().get("numRecordsOut", 0)


def test_running_jobs_are_listed_with_how_far_they_are(start):
    assert flintstream("list") == "No running jobs.\n"
    one, _ = start("one")
    wait_for_numbers(one, numCheckpoints=2)
    two, _ = start("two  words")
    first, details, second, _ = flintstream("list").splitlines()
    assert first.split(" : ")[1:] == [str(one.get_job_id()), "one (RUNNING)"]
    assert details.startswith(f"    process {os.getpid()}  epochs ")
    assert "  restarts 0  checkpoints " in details
    assert second.split(" : ")[1] == str(two.get_job_id())
    assert " : two words (" in second
    for option in ("-r", "--all"):
        assert str(one.get_job_id()) in flintstream("list", option)


def test_metrics_of_a_running_job_are_shown_by_operator_and_subtask(start):
    client, _ = start('a "job"')
    wait_for(lambda: record_count(client) > 10)
    job = str(client.get_job_id())
    lines = flintstream("metrics", job).splitlines()
    assert {"KEYED PROCESS, subtask 1", "KEYED PROCESS, subtask 2"} <= set(lines)
    assert lines[0] == "job"
    assert any(line.startswith("    busyTimeMsPerSecond ") for line in lines)
    assert any(line.startswith("    numRecordsInPerSecond ") for line in lines)
    operators = json.loads(flintstream("metrics", "--format", "json", job))
    collected = [
        operator["values"]["numRecordsIn"] for operator in operators if operator["operator"] == "KEYED PROCESS"
    ]
    assert len(collected) == 2
    assert sum(collected) > 10
    text = flintstream("metrics", "-f", "prometheus", job)
    assert "# HELP flink_taskmanager_job_task_operator_numRecordsIn Records received\n" in text
    assert "# TYPE flink_taskmanager_job_task_operator_numRecordsIn gauge\n" in text
    assert 'job_name="a \\"job\\""' in text
    assert f'flink_jobmanager_job_numRestarts{{host="{registry.host()}",job_id="{job}"' in text


def test_kept_checkpoints_are_listed_and_can_be_started_from(start):
    client, _ = start("kept", execution_checkpointing_externalized__checkpoint__retention="RETAIN_ON_CANCELLATION")
    wait_for_numbers(client, numCheckpoints=2)
    line = next(line for line in flintstream("list", "--verbose").splitlines() if line.startswith("    checkpoint "))
    number, path = line.split()[1], line.split()[-1]
    assert path.endswith(f"/chk-{number}")
    assert " bytes " in line


def test_a_job_that_is_over_is_no_longer_listed(start, jobs_directory):
    client, sink = start("short", limit=5)
    client.get_job_execution_result().result()
    wait_for(lambda: not list(jobs_directory.iterdir()))
    assert flintstream("list") == "No running jobs.\n"
    assert ordered(sink.get_results(True, False)) == expected(range(5))


def test_the_parallelism_of_a_running_job_changes(start):
    client, _ = start("tally", limit=60)
    wait_for(lambda: record_count(client) > 5)
    lines = flintstream("rescale", "-p", "3", "tally").splitlines()
    assert "KEYED PROCESS: 2 -> 3" in lines
    assert flintstream("rescale", "-p", "3", "tally").splitlines()[0].endswith(": 3, as before")
    assert "cannot have parallelism 1000" in flintstream("rescale", "-p", "1000", "tally", code=1)
    assert "0 is not in the range" in flintstream("rescale", "-p", "0", "tally", code=2)
    client.get_job_execution_result().result()


@pytest.mark.parametrize("spelling", [str, lambda job_id: str(job_id)[:7], lambda _: "tally"])
def test_a_savepoint_is_taken_while_the_job_goes_on(start, tmp_path, spelling):
    client, _ = start("tally")
    out = flintstream("savepoint", spelling(client.get_job_id()), str(tmp_path / "savepoints"))
    path = Path(out.splitlines()[-1])
    assert path.parent == tmp_path / "savepoints"
    assert (path / METADATA).exists()
    before = record_count(client)
    wait_for(lambda: record_count(client) > before)


@pytest.mark.parametrize(
    "settings",
    [
        {"state_backend_type": "hashmap"},
        {"state_backend_type": "rocksdb", "execution_checkpointing_incremental": True},
        {"state_changelog_enabled": True},
    ],
    ids=["hashmap", "rocksdb", "changelog"],
)
def test_a_checkpoint_is_taken_before_it_is_due_and_a_job_starts_from_it(start, settings):
    settings["execution_checkpointing_externalized__checkpoint__retention"] = "RETAIN_ON_CANCELLATION"
    client, _ = start("tally", execution_checkpointing_interval="1 h", **settings)
    wait_for(lambda: record_count(client) > 5)
    first, full, last = [
        Path(flintstream("checkpoint", *options, "tally").splitlines()[-1]) for options in ((), ("--full",), ())
    ]
    assert [path.name for path in (first, full, last)] == ["chk-1", "chk-2", "chk-3"]
    assert (last / METADATA).exists()
    flintstream("cancel", "tally")
    again, sink = start("again", limit=30, execution_state__recovery_path=str(last))
    again.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False))[-1] == expected(range(30))[-1]


def test_a_job_without_regular_checkpoints_takes_one_on_request(start):
    unset = ("execution_checkpointing_interval", "execution_checkpointing_dir", "flintstream_resume")
    client, _ = start("tally", **dict.fromkeys(unset))
    wait_for(lambda: record_count(client) > 5)
    assert flintstream("checkpoint", "tally").splitlines()[-1] == "checkpoint 1, in memory"


def test_a_relative_directory_is_that_of_the_command(start, tmp_path, monkeypatch):
    start("tally")
    monkeypatch.chdir(tmp_path)
    path = flintstream("savepoint", "tally", "here").splitlines()[-1]
    assert path.startswith(f"{tmp_path}/here/")


def test_a_stopped_job_goes_on_from_its_savepoint(start, tmp_path):
    client, sink = start("tally")
    wait_for(lambda: record_count(client) > 10)
    path = flintstream("stop", "--savepointPath", str(tmp_path / "savepoints"), "tally").splitlines()[-1]
    assert client.get_job_status().result() == JobStatus.FINISHED
    before = sink.get_results(True, False)
    again, _ = start("tally", sink, limit=len(before) + 20, execution_state__recovery_path=path)
    again.get_job_execution_result().result()
    assert ordered(before + sink.get_results(True, False)) == expected(range(len(before) + 20))


def test_a_program_that_a_savepoint_does_not_fit_is_not_tried_again(start, tmp_path):
    start("tally")
    path = flintstream("stop", "-p", str(tmp_path / "savepoints"), "tally").splitlines()[-1]
    settings = {"flintstream.engine": "inline", "execution.state-recovery.path": path}
    env = StreamExecutionEnvironment.get_execution_environment(
        {**settings, "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "1 h"}
    )
    env.from_collection([1]).print()
    with pytest.raises(CheckpointError, match="the program has no operator with that uid"):
        env.execute("other")


def test_stopping_with_drain_completes_the_output(start, tmp_path):
    client, sink = start("tally", execution_checkpointing_savepoint__dir=(tmp_path / "default").as_uri())
    wait_for(lambda: record_count(client) > 10)
    path = flintstream("stop", "-d", "tally").splitlines()[-1]
    assert (tmp_path / "default") in Path(path.removeprefix("file:")).parents
    rows = sink.get_results(True, False)
    assert ordered(rows) == expected(range(len(rows) // 2))


def test_a_job_is_cancelled(start):
    client, _ = start("tally")
    assert flintstream("cancel", "tally") == "Cancelled tally.\n"
    assert client.get_job_status().result() == JobStatus.CANCELED
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()


def test_who_cancels_a_job_that_has_ended_is_told_how_it_ended(start):
    client, _ = start("tally")
    flintstream("cancel", "tally")
    wait_for(lambda: not registry.entries())
    for command in ("cancel", "stop", "checkpoint"):
        told = f"Error: the job 'tally' ({client.get_job_id()}) has already been cancelled on "
        assert flintstream(command, "tally", code=1).startswith(told)


@pytest.mark.parametrize("named", [True, False])
def test_cancelling_with_a_savepoint_says_where_it_is(start, tmp_path, named):
    client, _ = start("tally", execution_checkpointing_savepoint__dir=str(tmp_path / "default"))
    out = flintstream("cancel", "-s", *([str(tmp_path / "named")] if named else []), "tally")
    directory = Path(out.splitlines()[-1].removeprefix("file:"))
    assert directory.parent == tmp_path / ("named" if named else "default")
    assert (directory / METADATA).exists()
    assert client.get_job_status().result().is_terminal_state()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("savepoint", "nobody"), "no running job has the id or name 'nobody'; 'flintstream list' shows them"),
        (("stop", ""), "no running job has the id or name ''"),
        (("savepoint", "twin"), "more than one running job is called 'twin': "),
        (("savepoint", "single"), "no directory is set for the savepoint"),
        (("stop", "single", "-p", "/proc/nothing/can/be/here"), "the savepoint failed: "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(start, arguments, message):
    for name in ("twin", "twin", "single"):
        start(name)
    said = flintstream(*arguments, code=1)
    assert said.startswith(f"Error: {message}")
    assert said.count("\n") == 1


def test_a_job_in_batch_mode_takes_no_savepoint(start):
    start("batch", limit=300, execution_runtime__mode="BATCH", flintstream_resume="false")
    assert "Error: a job in BATCH mode cannot take savepoints\n" in flintstream("savepoint", "batch", "/x", code=1)
    assert "Error: a job in BATCH mode cannot take checkpoints\n" in flintstream("checkpoint", "batch", code=1)


def test_cancelling_needs_a_job():
    result = CliRunner().invoke(main, ["cancel"])
    assert result.exit_code == 2
    assert "specify a job" in result.output


def test_a_job_that_waits_for_its_restart_says_so_and_can_be_cancelled(start, tmp_path):
    settings = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "1 h"}
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", **settings})
    tally(env, None, 0.001, fail_at=3, marker=tmp_path / "failed")
    client = env.execute_async("broken")
    wait_for(lambda: "broken (RESTARTING)" in flintstream("list"))
    assert flintstream("cancel", "broken") == "Cancelled broken.\n"
    assert client.get_job_status().result() == JobStatus.CANCELED


def test_a_job_can_keep_to_itself(start, jobs_directory):
    start("hidden", flintstream_control="false")
    assert flintstream("list") == "No running jobs.\n"
    assert not jobs_directory.exists()


def test_a_job_runs_where_it_cannot_be_listed(start, jobs_directory, caplog):
    jobs_directory.write_text("a file where the directory should be")
    client, _ = start("short", limit=3)
    client.get_job_execution_result().result()
    assert "'flintstream list' will not show the job 'short'" in caplog.text
    assert "No running jobs" in flintstream("list")


@pytest.mark.promise("S4")
def test_no_other_user_can_read_how_to_reach_a_job(start, jobs_directory):
    before = os.umask(0o002)
    try:
        start("private")
    finally:
        os.umask(before)
    entry = registry.find("private")
    assert stat.S_IMODE(jobs_directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((jobs_directory / f"{entry.job_id}.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(entry.address).parent.stat().st_mode) == 0o700


def test_a_directory_of_jobs_that_exists_keeps_its_mode(start, jobs_directory):
    jobs_directory.mkdir(mode=0o755)
    jobs_directory.chmod(0o755)
    start("private")
    entry = registry.find("private")
    assert stat.S_IMODE(jobs_directory.stat().st_mode) == 0o755
    assert stat.S_IMODE((jobs_directory / f"{entry.job_id}.json").stat().st_mode) == 0o600


def test_a_directory_of_jobs_that_others_may_write_to_is_left_alone(start, jobs_directory, caplog):
    jobs_directory.mkdir()
    jobs_directory.chmod(0o777)
    client, _ = start("short", limit=3)
    client.get_job_execution_result().result()
    assert stat.S_IMODE(jobs_directory.stat().st_mode) == 0o777
    assert f"other users may write to {jobs_directory}: run 'chmod go-w'" in caplog.text


@pytest.mark.promise("S4")
def test_who_does_not_know_the_key_is_turned_away(start):
    start("locked")
    entry = registry.find("locked")
    with pytest.raises(FlintstreamError, match=r"rejects the key|ended before it answered"):
        asking.ask(replace(entry, key="00" * 32), "status")
    assert asking.ask(entry, "status")["state"] == "RUNNING"


@pytest.mark.promise("S5")
def test_callers_that_say_nothing_hold_nobody_up(start):
    start("busy")
    entry = registry.find("busy")
    silent = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    for item in silent:
        item.connect(entry.address)
    assert asking.ask(entry, "status")["state"] == "RUNNING"
    for item in silent:
        item.close()


@pytest.mark.parametrize("request_", ["unknown", "savepoint"])
def test_a_request_that_makes_no_sense_is_refused(start, request_):
    start("busy")
    with pytest.raises(FlintstreamError, match=r"unknown request 'unknown'|has no argument 'foo'"):
        asking.ask(registry.find("busy"), request_, foo=1)


@pytest.mark.parametrize(
    "request_",
    [
        b"",
        b"\xff",
        b"null",
        b"[1]",
        b"[" * 50_000,
        b'{"request": 5}',
        b'{"request": ["status"]}',
        b'{"request": "status", "self": 1}',
        b'{"request": "stop", "drain": "no"}',
        b'{"request": "savepoint", "directory": {"a": 1}}',
    ],
    ids=lambda data: data[:40].decode("latin-1"),
)
def test_a_malformed_request_is_refused_in_words(start, request_):
    start("busy")
    entry = registry.find("busy")
    with connect(Endpoint(entry.address, bytes.fromhex(entry.key)), 60) as channel:
        channel.send(request_)
        reply = json.loads(channel.receive() or b"")
    assert re.match(r"a request must be a JSON object|the request '\w+' has no argument '\w+': ", reply["error"])
    assert asking.ask(entry, "status")["state"] == "RUNNING"


MALFORMED = {
    "nothing": b"",
    "a request without a handshake": b'{"request": "status"}' * 4,
    "half an answer": b"x" * 40,
    "a wrong answer": b"x" * 64,
    "a wrong answer and a request": b"x" * 64 + b'{"request": "status"}',
    "what a release before sent": (20).to_bytes(4, "big") + b"#CHALLENGE#" + b"x" * 60,
}


@pytest.mark.parametrize("sent", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_handshake_ends_the_connection_only(start, sent, monkeypatch):
    errors: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    start("busy")
    entry = registry.find("busy")
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(entry.address)
        caller.sendall(sent)
        caller.shutdown(socket.SHUT_WR)
        caller.settimeout(60)
        received = b""
        with suppress(ConnectionResetError):
            while part := caller.recv(1 << 16):
                received += part
    assert b"result" not in received
    wait_for(lambda: all(thread.name != "flintstream-control-caller" for thread in threading.enumerate()))
    assert errors == []
    assert asking.ask(entry, "status")["state"] == "RUNNING"


@pytest.mark.parametrize("sent", [b"", b"\0" * 7, b"\xff" * 8, (1 << 40).to_bytes(8, "big") + b"{}"])
def test_a_caller_with_the_key_that_sends_no_whole_request_ends_its_connection_only(start, monkeypatch, sent):
    errors: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    start("busy")
    entry = registry.find("busy")
    with connect(Endpoint(entry.address, bytes.fromhex(entry.key)), 60) as channel:
        channel._connection.sendall(sent)
        channel._connection.shutdown(socket.SHUT_WR)
        assert channel.receive() is None
    wait_for(lambda: all(thread.name != "flintstream-control-caller" for thread in threading.enumerate()))
    assert errors == []


def entry_of(tmp_path, **changes):
    """Register a job that does not exist."""
    address = tmp_path / f"{registry.SOCKET_DIRECTORY}gone" / registry.SOCKET
    address.parent.mkdir()
    address.touch()
    entry = registry.Entry("f" * 32, "lost", os.getpid(), registry.host(), 0, str(address), "00" * 32)
    entry = replace(entry, **changes)
    registry.add(entry)
    return entry


def test_what_a_killed_process_left_behind_is_removed(tmp_path, jobs_directory):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    entry = entry_of(tmp_path, pid=process.pid)
    assert flintstream("list") == "No running jobs.\n"
    assert not list(jobs_directory.iterdir())
    assert not Path(entry.address).parent.exists()


@pytest.mark.promise("S4")
@pytest.mark.parametrize("opened", ["directory", "entry"])
def test_entries_that_other_users_could_have_written_are_ignored(opened, tmp_path, jobs_directory):
    victim = tmp_path / "victim"
    victim.touch()
    entry_of(tmp_path, pid=2**22 + 1, address=str(victim))
    (entry,) = jobs_directory.glob("*.json")
    (jobs_directory if opened == "directory" else entry).chmod(0o777)
    assert registry.entries() == []
    assert victim.exists()


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("name", ["victim", "socket", f"{registry.SOCKET_DIRECTORY}x/other"])
def test_an_entry_that_names_another_file_as_its_socket_does_not_delete_it(name, tmp_path, jobs_directory):
    victim = tmp_path / name
    victim.parent.mkdir(exist_ok=True)
    victim.write_text("mine")
    entry_of(tmp_path, pid=dead_process(), address=str(victim))
    assert registry.entries() == []
    assert not list(jobs_directory.iterdir())
    assert victim.read_text() == "mine"


def test_an_entry_whose_id_is_a_path_deletes_nothing(tmp_path, jobs_directory):
    entry = entry_of(tmp_path, pid=dead_process())
    (tmp_path / "victim.json").write_text("mine")
    path = jobs_directory / f"{entry.job_id}.json"
    path.write_text(json.dumps({**asdict(entry), "job_id": "../victim"}))
    assert registry.entries() == []
    assert (tmp_path / "victim.json").read_text() == "mine"


def test_an_entry_that_is_a_link_is_not_read(tmp_path, jobs_directory):
    entry = entry_of(tmp_path)
    path = jobs_directory / f"{entry.job_id}.json"
    elsewhere = path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(elsewhere)
    assert registry.entries() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"pid": "1"},
        {"pid": True},
        {"pid": 0},
        {"pid": -1},
        {"pid": 1 << 40},
        {"started_ms": 1.5},
        {"started_ms": -1},
        {"started_ms": 1 << 62},
        {"name": None},
        {"address": ["a"]},
        {"address": None},
        {"key": "not hexadecimal"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_forged_entry_is_skipped(changes, tmp_path, jobs_directory):
    entry = entry_of(tmp_path)
    assert registry.entries() == [entry]
    path = jobs_directory / f"{entry.job_id}.json"
    path.write_text(json.dumps({**asdict(entry), **changes}))
    assert registry.entries() == []
    assert path.exists()


def test_an_entry_of_endless_depth_is_skipped(tmp_path, jobs_directory):
    entry = entry_of(tmp_path)
    (jobs_directory / f"{entry.job_id}.json").write_text("[" * 100_000)
    assert registry.entries() == []


STATUS = {"state": "RUNNING", "epochs": 1, "restarts": 0, "checkpoints": 0, "records_in": 1, "records_out": 1}
ODD_REPLIES = {
    "nothing": b"",
    "no JSON": b"\xff\x00",
    "endless depth": b"[" * 100_000,
    "null": b"null",
    "a list": b"[1]",
    "no result": b"{}",
    "an error that is no text": b'{"error": {"a": 1}}',
    "a result of another type": b'{"result": 5}',
    "a result without members": b'{"result": {}}',
    "members of other types": b'{"result": {"state": [], "epochs": "x", "watermark": {}, "operators": [1], "job": 1}}',
    "a number that is no date": json.dumps({"result": {**STATUS, "watermark": 1 << 80}}).encode(),
    "an operator with other members": b'{"result": {"job": "a", "operators": [{"operator": "a"}]}}',
    "a number of many digits": b'{"result": ' + b"9" * 5000 + b"}",
}


@contextmanager
def odd_job(tmp_path, reply):
    """Answer each request with these bytes, as a job of this process."""
    entry = entry_of(tmp_path)
    Path(entry.address).unlink()

    def serve(channel):
        with channel, suppress(OSError):
            channel.receive()
            channel.send(reply)

    listener = Listener(entry.address, bytes.fromhex(entry.key), serve)
    yield entry
    listener.close()


@pytest.mark.parametrize("reply", ODD_REPLIES.values(), ids=ODD_REPLIES)
@pytest.mark.parametrize(
    "arguments",
    [("list", "-v"), ("metrics", "lost"), ("metrics", "lost", "-f", "prometheus"), ("cancel", "lost")],
    ids=" ".join,
)
def test_an_odd_reply_of_a_job_is_told_in_a_line(arguments, reply, tmp_path):
    with odd_job(tmp_path, reply):
        result = CliRunner().invoke(main, arguments)
    if arguments[0] == "list":
        assert result.exit_code == 0, result.output
        assert " : lost (UNKNOWN: " in result.stdout
    else:
        assert result.exit_code == 1, result.output
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "greeting", [b"", b"x" * 300, b"flintstream channel", b"flintstream channel 1\n" + b"x" * 64, b"#CHALLENGE#" * 9]
)
def test_a_job_that_does_not_keep_to_the_handshake_is_told_in_a_line(greeting, tmp_path):
    entry = entry_of(tmp_path)
    Path(entry.address).unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(entry.address)
        listener.listen()

        def serve():
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.sendall(greeting)
                connection.recv(1 << 16)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        said = flintstream("metrics", "lost", code=1)
        thread.join(60)
    assert said.startswith("Error: the job 'lost' ")
    assert said.count("\n") == 1


@pytest.mark.promise("S5")
def test_control_characters_in_a_reply_do_not_reach_the_terminal(tmp_path):
    with odd_job(tmp_path, json.dumps({"error": "a\x07b\x9b2Jc\nd"}).encode()):
        said = flintstream("metrics", "lost", code=1)
    assert said == r"Error: a\x07b\x9b2Jc d" + "\n"


@pytest.mark.promise("S5")
def test_a_reply_without_an_end_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(asking, "LONGEST_REPLY", 100)
    with odd_job(tmp_path, json.dumps({"result": {"job": "a", "operators": [], "more": "x" * 100}}).encode()):
        assert "the job 'lost' ended before it answered" in flintstream("metrics", "lost", code=1)


def test_another_process_that_got_the_number_is_not_taken_for_the_job(tmp_path, jobs_directory):
    entry_of(tmp_path)
    assert flintstream("list") == "No running jobs.\n"
    assert not list(jobs_directory.iterdir())


def test_jobs_of_other_machines_and_damaged_entries_are_left_alone(tmp_path, jobs_directory):
    entry_of(tmp_path, host="elsewhere", pid=2**22 + 1)
    (jobs_directory / "bad.json").write_text("{")
    (jobs_directory / "later.json").write_text(json.dumps({"of": "another release"}))
    assert flintstream("list") == "No running jobs.\n"
    assert len(list(jobs_directory.iterdir())) == 3


def test_requests_that_cross_the_end_of_a_job_are_answered(start, tmp_path):
    client, _ = start("crossing")
    entry = registry.find("crossing")
    answers = []

    def savepoint():
        try:
            answers.append(asking.ask(entry, "savepoint", directory=str(tmp_path / "savepoints")))
        except FlintstreamError as error:
            answers.append(str(error))

    threads = [threading.Thread(target=savepoint) for _ in range(8)]
    for thread in threads[:4]:
        thread.start()
    stopping = client.stop_with_savepoint(False, str(tmp_path / "stopped"))
    for thread in threads[4:]:
        thread.start()
    stopping.result()
    for thread in threads:
        thread.join(300)
    assert len(answers) == 8


def test_a_request_for_which_no_thread_can_start_fails_without_the_others(start, monkeypatch):
    start("busy")
    entry = registry.find("busy")

    def refuse(thread):
        if thread.name == "flintstream-control-caller":
            raise RuntimeError("can't create new thread at interpreter shutdown")
        return started(thread)

    started = threading.Thread.start
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(FlintstreamError, match="ended before it answered"):
            asking.ask(entry, "status")
    assert asking.ask(entry, "status")


def test_a_savepoint_of_a_job_that_is_over_is_refused(start, tmp_path):
    client, _ = start("short", limit=3)
    client.get_job_execution_result().result()
    with pytest.raises(FlintstreamError, match=r"cannot take a savepoint: the job 'short' has ended"):
        client.trigger_savepoint(str(tmp_path)).result()


def test_all_jobs_of_a_process_are_cancelled_at_once(start):
    clients = [start(name)[0] for name in ("one", "two")]
    cancel_all(30)
    assert [client.get_job_status().result() for client in clients] == [JobStatus.CANCELED] * 2
