"""A standalone Spark cluster on 127.0.0.1: a master and workers, each in a separate process that tests can kill."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.faults.processes import below, kill
from tests.waiting import wait_for

from flintstream.engine.spark.jvm.java_release import find_java
from flintstream.engine.spark.jvm.start import OPENED_PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).parents[1]
UNSHARE = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]

START_SECONDS = 300
"""How long a process may take to start, on any machine."""


def hiding(directory: Path, *hidden: Path) -> list[str]:
    """Return a command that runs another one where directories are empty: as on a machine that does not have them.

    This checkout and this Python's packages are hidden too, except for pyspark.

    Args:
        directory: A new directory for the command.
        hidden: More directories to hide.
    """
    if shutil.which("unshare") is None or subprocess.run(UNSHARE, capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("this machine does not let us make mount namespaces (unshare -m)")
    import pyspark

    spark = str(Path(pyspark.__file__).parent)
    kept = [
        spark,
        *(str(path) for path in [Path(find_java()).resolve().parents[1]] if Path(sys.prefix) in path.parents),
    ]
    lines = ["set -e", "cd /"]
    for number, path in enumerate(kept):
        (directory / str(number)).mkdir(parents=True)
        lines.append(f"mount --bind '{path}' '{directory / str(number)}'")
    lines += [f"mount -t tmpfs none '{path}'" for path in (Path(sys.prefix), ROOT, *hidden)]
    for number, path in enumerate(kept):
        lines += [f"mkdir -p '{path}'", f"mount --bind '{directory / str(number)}' '{path}'"]
    script = directory / "hide"
    script.write_text("\n".join([*lines, 'exec "$@"', ""]))
    return ["unshare", "-m", "sh", str(script)]


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


class Standalone(contextlib.AbstractContextManager["Standalone"]):
    """Runs until it is closed. Processes that were killed start again on request, under the same address.

    The master keeps what it knows in ``directory``, so that a new one goes on with the running applications.
    """

    def __init__(
        self,
        directory: Path,
        *,
        workers: int = 2,
        cores: int = 1,
        memory: str = "1g",
        hosts: Sequence[str] = ("127.0.0.1",),
        around: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the cluster and wait until all workers have registered.

        Args:
            directory: For the logs and the files of Spark.
            workers: How many workers.
            cores: The cores of each worker.
            memory: The memory of each worker.
            hosts: The address of the master, then those of workers. Workers without an own one have the master's.
                Executors at the same address read each other's files.
            around: A command that runs the command of a worker, such as ``unshare``.
            environment: Further environment variables of all processes.
        """
        import pyspark

        self.directory = directory
        self.around = list(around)
        self.hosts = [*hosts, *[hosts[0]] * (1 + workers - len(hosts))]
        self.url = f"spark://{hosts[0]}:{free_port()}"
        home = Path(pyspark.__file__).parent
        self._environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_SCALA_VERSION": next((home / "jars").glob("spark-core_*")).name[len("spark-core_") :][:4],
            "PYSPARK_PYTHON": sys.executable,
            **(environment or {}),
        }
        # Without Spark's launcher, which is another JVM, and with quick starts rather than quick code.
        self._launcher = [find_java(), "-cp", f"{home / 'jars'}{os.sep}*", "-Xmx512m", "-XX:+UseSerialGC"]
        self._launcher += ["-XX:TieredStopAtLevel=1", "-XX:+IgnoreUnrecognizedVMOptions"]
        self._launcher += [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
        self._size = ["--cores", str(cores), "--memory", memory]
        self.master: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes] | None] = [None] * workers
        directory.mkdir(parents=True, exist_ok=True)
        try:
            self.start_master()
            for number in range(workers):
                self._start_worker(number)
            self._wait(lambda: all(map(self._registered, range(workers))))
        except BaseException:
            self.close()
            raise

    def start_master(self) -> None:
        """Start the master, after :meth:`kill_master` too, and wait until it listens."""
        port = int(self.url.rpartition(":")[2])
        recovery = {"recoveryMode": "FILESYSTEM", "recoveryDirectory": self.directory / "recovery"}
        options = [f"-Dspark.deploy.{key}={value}" for key, value in recovery.items()]
        self.master = self._start("master", [*options, "org.apache.spark.deploy.master.Master"], ["--port", str(port)])
        self._wait(lambda: _listens(self.hosts[0], port))

    def start_worker(self, number: int) -> None:
        """Start a worker, after :meth:`kill_worker` too, and wait until it has registered."""
        before = self._registered(number)
        self._start_worker(number)
        self._wait(lambda: self._registered(number) > before)

    def _start_worker(self, number: int) -> None:
        arguments = [*self._size, "-d", str(self.directory / f"work-{number}"), self.url]
        name, program = f"worker-{number}", ["org.apache.spark.deploy.worker.Worker"]
        self.workers[number] = self._start(name, program, arguments, self.around, self.hosts[1 + number])

    def kill_master(self) -> None:
        """Kill the master; executors and drivers live on."""
        if self.master is not None:
            self.master.kill()
            self.master.wait()
            self.master = None

    def kill_worker(self, number: int) -> None:
        """Kill a worker with its executors, as if its machine were gone.

        Executors that only lose their worker may go on for minutes. Spark takes another one at the same address for
        one of the same machine that can read their files.
        """
        worker = self.workers[number]
        if worker is not None:
            for process in below(worker.pid):
                kill(process)
            worker.wait()
            self.workers[number] = None

    def __exit__(self, *_: object) -> None:
        """Stop all processes."""
        self.close()

    def close(self) -> None:
        """Stop all processes."""
        processes = [process for process in (*self.workers, self.master) if process is not None]
        for process in processes:
            process.terminate()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()
            process.wait()

    def log(self, name: str) -> str:
        """Return what ``master`` or ``worker-0`` has logged."""
        path = self.directory / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _registered(self, number: int) -> int:
        return self.log(f"worker-{number}").count("Successfully registered with master")

    def _start(
        self,
        name: str,
        program: Sequence[str],
        arguments: Sequence[str],
        around: Sequence[str] = (),
        host: str = "",
    ) -> subprocess.Popen[bytes]:
        host = host or self.hosts[0]
        address = ["--host", host, "--webui-port", "0"]
        command = [*around, *self._launcher, *program, *address, *arguments]
        with (self.directory / f"{name}.log").open("ab") as log:
            environment = {**self._environment, "SPARK_LOCAL_IP": host}
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603

    def _wait(self, done: Callable[[], bool]) -> None:
        """Wait until the cluster is as far, unless one of its processes has ended; the failure shows what it logged."""
        processes = [process for process in (self.master, *self.workers) if process is not None]
        wait_for(done, seconds=START_SECONDS, processes=processes, log=self._logs)

    def _logs(self) -> str:
        """Return the logs of the processes that have ended, or of all."""
        named = {"master": self.master, **{f"worker-{number}": worker for number, worker in enumerate(self.workers)}}
        ended = [name for name, process in named.items() if process is not None and process.poll() is not None]
        return "\n".join(f"{name}: {self.log(name)}" for name in ended or named)


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
        return True
    return False
