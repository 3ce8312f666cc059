"""A real RabbitMQ of the Debian package: one node, only on this machine, with separate data, ports and port mapper."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pika
from pika.adapters.utils.connection_workflow import AMQPConnectorException
from pika.exceptions import AMQPError

from flintstream.datastream.connectors.rabbitmq import RMQConnectionConfig

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
START_SECONDS = 300
STOP_SECONDS = 30
ATTEMPTS = 4


class NoServerError(Exception):
    """No server can be started on this machine."""


class PortTakenError(NoServerError):
    """Another process has taken a port between the choice and the start."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A server in a separate process, which can be killed and restarted with its data."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """Start a server with its data in ``directory``."""
        if not PROGRAM.exists() or shutil.which("epmd") is None:
            raise NoServerError(f"there is no {PROGRAM}; 'apt-get install rabbitmq-server' brings it")
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        mapper = free_port()
        own = {
            "HOME": str(self.directory),  # the cookie that authenticates nodes to each other
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(mapper),
            "RABBITMQ_NODENAME": f"flintstream-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none",
            "RABBITMQ_MNESIA_BASE": str(self.directory),
            "RABBITMQ_LOG_BASE": str(self.directory),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": str(self.directory / "pid"),
            "RABBITMQ_CONFIG_FILE": str(self.directory / "rabbitmq"),
            "RABBITMQ_CONF_ENV_FILE": str(self.directory / "environment"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.directory / "plugins"),
        }
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("RABBITMQ_")} | own
        self.process: subprocess.Popen[bytes] | None = None
        # Without a separate port mapper the server would start one that outlives it.
        command = ["epmd", "-port", str(mapper), "-address", "127.0.0.1"]
        self.mapper = subprocess.Popen(command, env=self.environment)  # noqa: S603
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    @classmethod
    def somewhere(cls, directory: str | os.PathLike[str]) -> Server:
        """Start a server at free ports; choose others if another process has taken them in between."""
        for _ in range(ATTEMPTS - 1):
            with suppress(PortTakenError):
                return cls(directory)
        return cls(directory)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                [str(PROGRAM)],
                env=self.environment,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,  # the program is a script, whose child is the server
            )
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                with self.channel():
                    return
            except (AMQPError, AMQPConnectorException, OSError):  # the second if another server has the port
                if self.process.poll() is not None or time.monotonic() > until:
                    text = (self.directory / "log").read_text(errors="replace")[-2000:]
                    kind = PortTakenError if "eaddrinuse" in text else NoServerError
                    raise kind(f"the server does not start:\n{text}") from None
                time.sleep(0.1)

    def kill(self) -> None:
        """Kill the server with signal 9."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)

    def close(self) -> None:
        """Stop the server and delete its data."""
        self.kill()
        self.mapper.terminate()
        self.mapper.wait(STOP_SECONDS)
        shutil.rmtree(self.directory, ignore_errors=True)

    # -- what tests do with it ---------------------------------------------------------------------------------------

    def builder(self):
        found = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(self.port).set_virtual_host("/")
        return found.set_user_name("guest").set_password("guest").set_network_recovery_interval(100)

    @property
    def config(self):
        return self.builder().build()

    @contextmanager
    def channel(self):
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.port))
        try:
            yield connection.channel()
        finally:
            connection.close()

    def send(self, queue, messages, *, ids=True):
        """Write texts, with themselves as their correlation ids."""
        with self.channel() as channel:
            channel.queue_declare(queue, durable=True)
            channel.tx_select()  # when that is committed, all is on disk
            for message in messages:
                properties = pika.BasicProperties(delivery_mode=2, correlation_id=message if ids else None)
                channel.basic_publish("", queue, message.encode(), properties)
            channel.tx_commit()

    def drain(self, queue):
        """Take all messages that are in a queue."""
        found = []
        with self.channel() as channel:
            while (message := channel.basic_get(queue, auto_ack=True))[0] is not None:
                found.append(message[2].decode())
        return found
