"""Real database servers: only on this machine, with data in temporary directories.

Servers refuse to run as root. As root, the tests run them as the user of their package, or as ``nobody``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

START_SECONDS = 300
PASSWORD = "se/cr et&1"  # noqa: S105 - of a server that lives for a test
"""With characters that have a meaning in URLs."""


class NoServerError(Exception):
    """The server is not installed on this machine."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(name: str, *elsewhere: str) -> str:
    """Return the path of a program."""
    found = [str(path) for pattern in elsewhere for path in sorted(Path("/").glob(pattern), reverse=True)]
    if path := shutil.which(name) or next(iter(found), None):
        return path
    raise NoServerError(f"the program {name} is not installed")


class Server(ABC):
    """A server in a separate process, which can be killed and restarted with its data."""

    system_user: ClassVar[str]

    def __init__(self) -> None:
        """Start an empty server."""
        self.port = free_port()
        self.owner: dict[str, Any] = {}
        if os.geteuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            entry = pwd.getpwnam(self.system_user if self.system_user in names else "nobody")
            self.owner = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self.check()
        self.directory = Path(tempfile.mkdtemp(prefix="flintstream-"))
        if self.owner:
            os.chown(self.directory, self.owner["user"], self.owner["group"])
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self.prepare()
            self.start()
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def check(self) -> None:
        """Find the programs."""

    @abstractmethod
    def prepare(self) -> None:
        """Create an empty data directory."""

    @abstractmethod
    def command(self) -> list[str]:
        """Return the command that starts the server."""

    @abstractmethod
    def connect(self, database: str = "") -> Any:
        """Return a connection of the administrator with autocommit."""

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        if self.owner:
            os.chown(path, self.owner["user"], self.owner["group"])
        return path

    def run(self, *command: str) -> None:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, cwd=self.directory, timeout=300, **self.owner
        )
        if done.returncode:
            raise NoServerError(f"{Path(command[0]).name} fails: {(done.stderr or done.stdout)[-1000:]}")

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.directory, **self.owner
            )
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                self.connect().close()
            except Exception:  # noqa: BLE001 - any error of the driver
                if self.process.poll() is not None or time.monotonic() > until:
                    text = (self.directory / "log").read_text(errors="replace")[-2000:]
                    raise NoServerError(f"the server does not start:\n{text}") from None
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        """Kill the server immediately, without a clean shutdown."""
        if self.process is not None:
            self.process.send_signal(self.signal)
            self.process.wait(30)
            self.process = None

    signal: ClassVar[signal.Signals] = signal.SIGKILL

    def close(self) -> None:
        """Stop the server and delete its data."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """Execute a statement and return its result."""
        with closing(self.connect("shop")) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []

    def table(self, columns: str) -> str:
        """Create a table with a unique name."""
        name = f"t_{uuid.uuid4().hex[:8]}"
        self.execute(f"CREATE TABLE {name} ({columns})")
        return name


class Postgresql(Server):
    """PostgreSQL with a database ``shop``."""

    system_user = "postgres"
    signal = signal.SIGQUIT  # what it calls an immediate shutdown: after SIGKILL its children would live on

    def check(self) -> None:
        self.server = program("postgres", "usr/lib/postgresql/*/bin/postgres", "opt/homebrew/bin/postgres")
        self.initdb = program("initdb", "usr/lib/postgresql/*/bin/initdb")

    def prepare(self) -> None:
        password = self.write("password", PASSWORD)
        data = str(self.directory / "data")
        self.run(self.initdb, "-D", data, "-U", "me", "-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8")

    def command(self) -> list[str]:
        settings = {"listen_addresses": "127.0.0.1", "fsync": "off", "TimeZone": "Asia/Tokyo"}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [self.server, "-D", f"{self.directory}/data", "-p", str(self.port), "-k", str(self.directory), *options]

    def start(self) -> None:
        super().start()
        with closing(self.connect()) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'shop'").fetchall():
                connection.execute("CREATE DATABASE shop")

    def connect(self, database: str = "") -> Any:
        import psycopg

        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="me",
            password=PASSWORD,
            dbname=database or "postgres",
            autocommit=True,
        )

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/shop"


class Mariadb(Server):
    """MariaDB with a database ``shop``."""

    system_user = "mysql"

    def check(self) -> None:
        self.server = program("mariadbd", "usr/sbin/mariadbd", "usr/local/sbin/mariadbd")
        self.install = program("mariadb-install-db")

    def prepare(self) -> None:
        data = f"--datadir={self.directory}/data"
        self.run(self.install, "--no-defaults", data, "--skip-test-db", "--auth-root-authentication-method=normal")
        self.write(
            "init.sql",
            "CREATE DATABASE IF NOT EXISTS shop;\n"
            f"CREATE USER IF NOT EXISTS 'me'@'%' IDENTIFIED BY '{PASSWORD}';\n"
            "GRANT ALL ON *.* TO 'me'@'%';\n",
        )

    def command(self) -> list[str]:
        options = [
            f"--datadir={self.directory}/data",
            f"--port={self.port}",
            f"--socket={self.directory}/socket",
            f"--pid-file={self.directory}/pid",
            f"--init-file={self.directory}/init.sql",
            "--bind-address=127.0.0.1",
            "--default-time-zone=+09:00",
            "--innodb-flush-log-at-trx-commit=2",
        ]
        return [self.server, "--no-defaults", *options]

    def connect(self, database: str = "") -> Any:
        import pymysql

        return pymysql.connect(
            host="127.0.0.1",
            port=self.port,
            user="me",
            password=PASSWORD,
            database=database or None,
            autocommit=True,
            init_command="SET time_zone = '+00:00'",
        )

    @property
    def url(self) -> str:
        return f"jdbc:mariadb://127.0.0.1:{self.port}/shop"
