"""``flintstream serve``: keeps a process with Spark ready for the next ``flintstream run``."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from flintstream.cli.configuration import config_option, settings_option, settings_with_file
from flintstream.cli.handing_over import ANSWER_SECONDS, close_all, fits, here, receive, send, server_path
from flintstream.cli.jobs import SETTINGS
from flintstream.cli.printable import printable
from flintstream.cli.supervisor import END_SECONDS, start_module
from flintstream.storage.private import make_private

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flintstream.cli.handing_over import Message

WAITING = 8
"""How many commands may wait for an answer at a time."""


PAUSE_SECONDS = 0.1
"""The time between attempts to accept a connection, if too many files are open."""


class WarmProcess:
    """A process that waits for a program, and its supervisor."""

    def __init__(self, settings: Mapping[str, str], master: str | None) -> None:
        """Start it."""
        self.program: int | None = None
        """The id of the process, once it is ready."""
        self.supervisor, self._channel = start_module("flintstream.cli.supervisor")
        send(self._channel, {"settings": dict(settings), "master": master})

    def is_ready(self) -> bool:
        """Wait until it is ready; return False if it has ended."""
        with suppress(OSError, ValueError):
            ready, _ = receive(self._channel)
            self.program = None if ready is None else int(ready["process"])
        return self.program is not None

    def give(self, request: Message, descriptors: list[int]) -> bool:
        """Give it a program; return False if it has ended."""
        self._channel.settimeout(ANSWER_SECONDS)
        try:
            with self._channel:
                send(self._channel, request, descriptors)
        except OSError:
            return False
        return True

    def end(self) -> None:
        """End it before it has a program: the supervisor notices that the channel has ended."""
        self._channel.close()
        try:
            self.supervisor.wait(2 * END_SECONDS)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            self.supervisor.kill()
            self.supervisor.wait()


class Server:
    """Gives each program that fits to a process that is ready, and then starts another one."""

    def __init__(self, settings: Mapping[str, str], master: str | None) -> None:
        """Take the settings of Spark."""
        self._settings = settings
        self._master = master
        self._own = here()
        self._warm_process: WarmProcess | None = None
        self._requests: queue.SimpleQueue[tuple[socket.socket, Message, list[int]]] = queue.SimpleQueue()
        self._supervisors: list[subprocess.Popen[bytes]] = []

    def running(self) -> list[subprocess.Popen[bytes]]:
        """Return the supervisors of the programs that run."""
        self._supervisors = [supervisor for supervisor in self._supervisors if supervisor.poll() is None]
        return self._supervisors

    def prepare(self) -> None:
        """Start a process that waits for the next program.

        Raises:
            click.ClickException: It ends at once.
        """
        self._warm_process = WarmProcess(self._settings, self._master)
        if not self._warm_process.is_ready():
            raise click.ClickException("Spark did not start; see above")

    def accept(self, listener: socket.socket) -> None:
        """Take requests until the listener is closed. A command that sends none keeps no other from being answered."""
        while listener.fileno() != -1:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed, or too many files are open
                time.sleep(PAUSE_SECONDS)
                continue
            threading.Thread(target=self.take, args=(connection,), daemon=True).start()

    def take(self, connection: socket.socket) -> None:
        """Receive the request of a command and confirm it. A wrong one ends its connection."""
        connection.settimeout(ANSWER_SECONDS)
        descriptors: list[int] = []
        try:
            request, descriptors = receive(connection)
            if request is not None:  # not another server, which only asks whether there is one
                _check(request, descriptors)
                send(connection, {"received": True})
                self._requests.put((connection, request, descriptors))
                return
        except TimeoutError:
            _say(f"ignored a client that sent no request within {ANSWER_SECONDS:g} s")
        except ValueError as error:
            _say(f"ignored a client that sent {error}")
        except OSError:  # it was killed, or has given up
            pass
        connection.close()
        close_all(descriptors)

    def answer_next(self) -> None:
        """Wait for a request, and answer it: run the program of the command, or let the command run it itself."""
        connection, request, descriptors = self._requests.get()
        with connection:
            why = fits(request, self._own)
            if why is None and not self._give(connection, request, descriptors):
                why = "no process is ready"
            if why is not None:
                with suppress(OSError):
                    send(connection, {"no": why})
                _say(f"flintstream {' '.join(request['arguments'])} starts Spark itself: {why}")
        close_all(descriptors)
        if self._warm_process is None:
            self.prepare()

    def _give(self, connection: socket.socket, request: Message, descriptors: list[int]) -> bool:
        """Give the program to the process that waits, if there is one, with the connection to its command."""
        warm_process, self._warm_process = self._warm_process, None
        if warm_process is None:
            return False
        if not warm_process.give(request, [*descriptors, connection.fileno()]):
            warm_process.end()
            return False
        _say(f"flintstream {' '.join(request['arguments'])} runs in process {warm_process.program}")
        self._supervisors = [*self.running(), warm_process.supervisor]
        return True

    def close(self) -> None:
        """End the process that waits."""
        if self._warm_process is not None:
            self._warm_process.end()


def _check(request: Message, descriptors: list[int]) -> None:
    """Check what a command has sent.

    Raises:
        ValueError: It is not a request. The message says what it is.
    """
    texts = [request.get("arguments"), *(request.get(name) for name in ("environment", "variables"))]
    kinds = (list, dict, dict)
    if not all(isinstance(value, kind) for value, kind in zip(texts, kinds, strict=True)):
        raise ValueError("something other than a request")
    words = [word for value in texts for word in (value.values() if isinstance(value, dict) else value or [])]
    complete = {"directory", "python", "user"} <= request.keys() and isinstance(request.get("umask"), int)
    if not complete or len(descriptors) != 3 or not all(isinstance(word, str) for word in words):
        raise ValueError("an incomplete request")


def _say(text: str) -> None:
    click.echo(printable(text), err=True)


def listen(path: Path) -> socket.socket:
    """Return the socket of the server.

    Raises:
        click.ClickException: Another server of this user runs, or others may write to the directory.
    """
    try:
        make_private(path.parent)
    except OSError as error:
        raise click.ClickException(printable(str(error))) from None
    with socket.socket(socket.AF_UNIX) as other:
        other.settimeout(ANSWER_SECONDS)
        try:
            other.connect(str(path))
            answers = True
        except (BlockingIOError, TimeoutError):  # it has stopped
            answers = True
        except (ConnectionError, FileNotFoundError):  # there is none, or a killed server has left the socket
            answers = False
        except OSError as error:
            raise click.ClickException(printable(f"{path} cannot be the path of a socket: {error}")) from None
    if answers:
        raise click.ClickException(printable(f"a server is already running: {path}"))
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)  # the directory may let others look into it
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)
    listener.listen(WAITING)
    return listener


@click.command("serve", context_settings=SETTINGS)
@click.option("--master", metavar="URL", help="Spark master, such as local[4] or spark://host:7077.")
@settings_option
@config_option
def serve_command(master: str | None, settings: dict[str, str], config: str | None) -> None:
    """Keep a process with Spark ready, so that the next program starts in less than a second.

    'flintstream run' uses it if it has the same directory, environment variables and Python. Ctrl-C ends the server.
    """
    server = Server(settings_with_file(settings, config), master)
    listener = listen(server_path())
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with listener:
            _say("starting Spark ...")
            server.prepare()
            threading.Thread(target=server.accept, args=(listener,), daemon=True).start()
            _say("ready for 'flintstream run' in this directory; Ctrl-C ends the server")
            while True:
                server.answer_next()
    except KeyboardInterrupt:
        pass
    finally:
        server_path().unlink(missing_ok=True)
        server.close()
    if supervisors := server.running():
        _say(f"waiting for {len(supervisors)} running program{'' if len(supervisors) == 1 else 's'}")
        with suppress(KeyboardInterrupt):
            for supervisor in supervisors:
                supervisor.wait()


def _interrupt(number: int, frame: Any) -> None:  # noqa: ARG001 - as signal calls it
    raise KeyboardInterrupt
