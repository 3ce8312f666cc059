"""Spark reaches its Python workers through sockets that no other user can connect to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tests.second_user import two_users

from flintstream.engine.spark import session, sockets
from flintstream.engine.spark.session import (
    SOCKET_DIRECTORY,
    UNIX_SOCKETS,
    resolve_settings,
    with_private_files,
    with_private_sockets,
)
from flintstream.engine.spark.sockets import LONGEST, PREFIX, private_directory, sweep

ROOT = Path(__file__).parents[2]
NOBODY = 65534

CONNECT = """
import json, os, socket, sys
os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[1]))
told = []
for path in sys.argv[3:]:
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)
        told.append("connected")
    except OSError as error:
        told.append(type(error).__name__)
print(json.dumps(told))
"""


def connect_as_another_user_of_the_group(*paths):
    command = [sys.executable, "-S", "-c", CONNECT, str(NOBODY), str(os.getegid()), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")  # noqa: S603
    return json.loads(done.stdout)


@pytest.fixture
def short(monkeypatch, tmp_path_factory):
    """Make a temporary directory with a short path the default one."""
    tmp_path_factory.getbasetemp()  # not in this one
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        monkeypatch.setattr(tempfile, "tempdir", directory)
        yield Path(directory)


def made():
    directory = private_directory()
    assert directory is not None
    return Path(directory)


def listening(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


@pytest.mark.promise("S11")
@two_users
def test_another_user_of_the_group_cannot_connect_whatever_the_umask_is(short):
    short.chmod(0o755)
    before = os.umask(0o002)
    try:
        private = made()
        with listening(private / "inside"), listening(short / "beside"):
            assert connect_as_another_user_of_the_group(private / "inside", short / "beside") == [
                "PermissionError",
                "connected",
            ]
    finally:
        os.umask(before)
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_a_place_whose_path_is_too_long_is_left_out(short, monkeypatch):
    deep = short / ("x" * LONGEST)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
    assert made().parent == short


@pytest.mark.promise("S11")
def test_without_a_suitable_place_spark_uses_tcp_and_its_secret(monkeypatch):
    monkeypatch.setattr("flintstream.engine.spark.session.has_unix_sockets", lambda: True)
    monkeypatch.setattr("flintstream.engine.spark.session.private_directory", lambda: None)
    conf = with_private_sockets(resolve_settings({"spark.master": "local[1]"}, {}))
    assert (conf[UNIX_SOCKETS], SOCKET_DIRECTORY in conf) == ("false", False)


def test_on_a_cluster_spark_uses_tcp_and_its_secret_unless_it_is_told_otherwise():
    told = {SOCKET_DIRECTORY: "/run/spark", UNIX_SOCKETS: "true"}
    assert with_private_sockets(resolve_settings({"spark.master": "yarn"}, {}))[UNIX_SOCKETS] == "false"
    assert told.items() <= with_private_sockets(resolve_settings({"spark.master": "yarn"}, told)).items()


@pytest.mark.promise("S11")
def test_local_files_of_spark_are_private_unless_it_is_told_otherwise_or_has_executors(short, monkeypatch):
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    monkeypatch.setattr(session, "_directories", [])  # a JVM that was started early may have left one
    conf = with_private_files(resolve_settings({"spark.master": "local[1]"}, {}))
    assert Path(conf["spark.local.dir"]).parent == short
    assert sockets.is_private(conf["spark.local.dir"])
    for told in ({"spark.master": "yarn"}, {"spark.master": "local[1]", "spark.local.dir": "/fast"}):
        given = resolve_settings(told, {})
        assert with_private_files(given) == given
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/fast")
    assert "spark.local.dir" not in with_private_files(resolve_settings({"spark.master": "local[1]"}, {}))


def test_what_a_killed_process_leaves_is_removed_by_the_next_one(short):
    code = (
        "import os, signal, sys; from flintstream.engine.spark.sockets import private_directory\n"
        "private_directory(); os.kill(os.getpid(), signal.SIGKILL) if sys.argv[1] == 'killed' else None\n"
    )
    environment = {**os.environ, "TMPDIR": str(short)}
    for end, left in (("normal", []), ("killed", [True])):
        done = subprocess.run([sys.executable, "-c", code, end], env=environment, check=False)  # noqa: S603
        assert done.returncode == (-signal.SIGKILL if end == "killed" else 0)
        assert [path.exists() for path in short.iterdir()] == left
    used = made()
    assert list(short.iterdir()) == [used]
    sweep(str(short))
    assert used.is_dir()


def test_a_directory_of_others_is_neither_used_nor_removed(short):
    open_to_all, link = short / f"{PREFIX}open", short / f"{PREFIX}link"
    open_to_all.mkdir()
    open_to_all.chmod(0o755)
    link.symlink_to(open_to_all)
    for path in (open_to_all, link):
        assert not sockets._is_ours(path)
    (open_to_all / "owner").touch()
    sweep(str(short))
    assert open_to_all.is_dir()


def test_a_place_where_others_can_replace_directories_is_left_out(short, monkeypatch):
    shared = short / "shared"
    (shared / "below").mkdir(parents=True)
    shared.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
    for place in (shared, shared / "below"):
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        assert made().parent == short
    shared.chmod(0o1777)
    assert made().parent == shared / "below"


PROGRAM = """
import os, sys
from flintstream.datastream import StreamExecutionEnvironment
os.umask(0o002)
settings = {"flintstream.master": "local[1]", "spark.ui.enabled": "true", "spark.ui.port": "0"}
env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
print(*env.from_collection([1]).map(lambda x: x).execute_and_collect(), flush=True)
sys.stdin.readline()
"""


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""127.0.0.1, the same in IPv6, and ::1, as /proc/net has them."""


def ports_of(pid):
    """Return address and port of the TCP sockets on which a process and its descendants wait for connections."""
    pids, inodes = {pid}, set()
    for status in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parent.name)):
        with contextlib.suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) in pids:
                pids.add(int(status.parent.name))
    for item in pids:
        with contextlib.suppress(OSError):
            for link in Path(f"/proc/{item}/fd").iterdir():
                with contextlib.suppress(OSError):
                    inodes.add(str(link.readlink()).removeprefix("socket:[").rstrip("]"))
    rows = [row.split() for kind in ("tcp", "tcp6") for row in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    return [tuple(row[1].split(":")) for row in rows if row[3] == "0A" and row[9] in inodes]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc for the ports")
def test_the_search_for_ports_finds_those_of_descendants():
    code = "import socket; s = socket.create_server(('', 0)); print(s.getsockname()[1], flush=True); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        assert server.stdout is not None
        port = int(server.stdout.readline())
        assert ("00000000", f"{port:04X}") in ports_of(os.getpid())
        server.communicate("\n")


@pytest.mark.promise("S11")
@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc for the ports")
@two_users
def test_no_socket_or_file_of_a_job_is_open_to_another_user_and_no_socket_is_left(short, tmp_path):
    short.chmod(0o755)
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "TMPDIR": str(short), "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={short}"}
    with subprocess.Popen(  # noqa: S603 - this test's own program
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "1\n"
        found = [path for path in short.rglob("*") if path.is_socket()]
        modes = [stat.S_IMODE(path.parent.stat().st_mode) for path in found]
        told = connect_as_another_user_of_the_group(*found)
        open_to_others = [entry.name for entry in short.iterdir() if is_open_to_others(entry)]
        ports = ports_of(program.pid)
        program.communicate("end\n")
    assert program.returncode == 0
    assert found
    assert modes == [0o700] * len(found)
    assert open_to_others == []
    assert ports
    assert {address for address, _ in ports} <= LOOPBACK
    assert "PermissionError" in told
    assert {*told} <= {"PermissionError", "FileNotFoundError"}  # those of the job go with it
    assert wait_until(lambda: not any(path.is_socket() for path in short.rglob("*")))


def is_open_to_others(path):
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
    except FileNotFoundError:  # a file that the running job has removed since
        return False


def wait_until(condition):
    """The JVM and the daemon of its workers end a moment after the program."""
    end = time.monotonic() + 300
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()
