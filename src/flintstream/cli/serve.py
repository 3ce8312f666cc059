"""``flintstream serve``: keeps a process with Spark ready for the next ``flintstream run``."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from flintstream.cli.configuration import config_option, settings_option, settings_with_file
from flintstream.cli.handing_over import fits, here, receive, send, server_path
from flintstream.cli.jobs import SETTINGS
from flintstream.cli.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WAITING = 8
"""How many commands may wait for an answer at a time."""


END_SECONDS = 20
"""How long a process that waits may take to end. It may still be starting Spark."""


class Spare:
    """A process that waits for a program."""

    def __init__(self, settings: Mapping[str, str], master: str | None) -> None:
        """Start it."""
        self.channel, theirs = socket.socketpair()
        with theirs:
            given = {"server": theirs.fileno(), "settings": dict(settings), "master": master}
            self.process = subprocess.Popen(  # noqa: S603 - this Python, and a module of ours
                [sys.executable, "-m", "flintstream.cli.spare", json.dumps(given)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C here is not for the programs
            )

    def is_ready(self) -> bool:
        """Wait until it is ready; return False if it has ended."""
        with suppress(OSError):
            return receive(self.channel)[0] is not None
        return False

    def end(self) -> None:
        """End it before it has a program: it notices that the channel has ended."""
        self.channel.close()
        try:
            self.process.wait(END_SECONDS)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


class Server:
    """Gives each program that fits to a process that is ready, and then starts another one."""

    def __init__(self, settings: Mapping[str, str], master: str | None) -> None:
        """Take the settings of Spark."""
        self._settings = settings
        self._master = master
        self._own = here()
        self._spare: Spare | None = None
        self.running: set[subprocess.Popen[bytes]] = set()

    def prepare(self) -> None:
        """Start a process that waits for the next program.

        Raises:
            click.ClickException: It ends at once.
        """
        self._spare = Spare(self._settings, self._master)
        if not self._spare.is_ready():
            raise click.ClickException("Spark does not start; see above")

    def answer(self, connection: socket.socket) -> None:
        """Run the program of a command, or let the command run it itself."""
        try:
            request, descriptors = receive(connection)
        except (OSError, ValueError):
            request, descriptors = None, []
        if request is None:  # another server, which has only asked whether there is one
            connection.close()
            return
        spare = self._spare
        why = fits(request, self._own) or ("no process is ready" if spare is None else None)
        if why is not None or spare is None:
            with connection, suppress(OSError):
                send(connection, {"no": why})
            _say(f"a program runs in a process of its own: {why}")
        else:
            self._spare = None
            self._run(spare, connection, request, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        if self._spare is None:
            self.prepare()

    def _run(self, spare: Spare, connection: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
        """Run the program of a command."""
        process = spare.process
        with suppress(OSError):  # it has ended, which the command will learn
            send(spare.channel, request, descriptors)
        spare.channel.close()
        with suppress(OSError):
            send(connection, {"process": process.pid})
        _say(f"process {process.pid} runs {' '.join(request['arguments'])}")
        self.running.add(process)
        threading.Thread(target=self._wait, args=(process, connection), daemon=True).start()
        threading.Thread(target=_watch, args=(process, connection), daemon=True).start()

    def _wait(self, process: subprocess.Popen[bytes], connection: socket.socket) -> None:
        """Tell the command the exit code of its program."""
        code = process.wait()
        with suppress(OSError):
            send(connection, {"code": code if code >= 0 else 128 - code})
            connection.shutdown(socket.SHUT_RDWR)
        self.running.discard(process)

    def close(self) -> None:
        """End the process that waits."""
        if self._spare is not None:
            self._spare.end()


def _watch(process: subprocess.Popen[bytes], connection: socket.socket) -> None:
    """End a program whose command was killed."""
    with connection, suppress(OSError):
        connection.recv(1)
    if process.poll() is None:
        process.terminate()


def _say(text: str) -> None:
    click.echo(printable(text), err=True)


def listen(path: Path) -> socket.socket:
    """Return the socket of the server.

    Raises:
        click.ClickException: Another server of this user runs, or the directory belongs to someone else.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.parent.stat().st_uid != os.geteuid():
        raise click.ClickException(printable(f"{path.parent} belongs to another user"))
    path.parent.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as other, suppress(OSError):
        other.connect(str(path))
        raise click.ClickException(printable(f"a server runs already: {path}"))
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
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
            server.prepare()
            _say("ready for 'flintstream run' in this directory")
            while True:
                connection, _ = listener.accept()
                server.answer(connection)
    except KeyboardInterrupt:
        pass
    finally:
        server_path().unlink(missing_ok=True)
        server.close()
    if server.running:
        _say(f"waiting for {len(server.running)} running programs")
        with suppress(KeyboardInterrupt):
            for process in list(server.running):
                process.wait()


def _interrupt(number: int, frame: Any) -> None:  # noqa: ARG001 - as signal calls it
    raise KeyboardInterrupt
