"""``flintstream ui`` and ``flintstream rest``: the web page and Flink's REST interface for the jobs of this user."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flintstream.cli.jobs import SETTINGS
from flintstream.errors import FlintstreamError
from flintstream.rest.serving import Place, running_at, server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flintstream.rest.routes import Route


Command = TypeVar("Command", bound="Callable[..., Any]")


def add_places(port: int) -> Callable[[Command], Command]:
    """Return what adds the options for the address of a server to a command, with a default of the port."""

    def add(command: Command) -> Command:
        for option in (
            click.option(
                "--port",
                type=click.IntRange(0, 65_535),
                default=port,
                show_default=True,
                help="The port; 0 for a free one.",
            ),
            click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
        ):
            command = option(command)
        return command

    return add


@click.command("rest", context_settings=SETTINGS)
@add_places(8081)
@click.option(
    "--print-header-file",
    is_flag=True,
    help="Print the path of the file that holds the authorization header for your server at this port, and exit.",
)
def rest_command(host: str, port: int, print_header_file: bool) -> None:
    """Show and control this user's jobs on this machine through Flink's REST API.

    Callers must send the token of the server as 'Authorization: Bearer TOKEN', or as the password of 'Authorization:
    Basic'. It is the value of FLINTSTREAM_REST_TOKEN, or else a new one for each server. A file that only you can read
    contains the header: curl -H @"$(flintstream rest --print-header-file)" http://127.0.0.1:8081/jobs
    """
    if print_header_file:
        click.echo(server_at(host, port).header_file)
    else:
        _serve(host, port)


@click.command("ui", context_settings=SETTINGS)
@add_places(8081)
@click.option(
    "--print-address",
    is_flag=True,
    help="Print the address of your server at this port, including its token, and exit.",
)
def ui_command(host: str, port: int, print_address: bool) -> None:
    """Serve a web page that shows and controls this user's jobs on this machine.

    The address is printed. It contains a token, the value of FLINTSTREAM_REST_TOKEN or else a new one for each server.
    """
    if print_address:
        click.echo(server_at(host, port).address())
    else:
        _serve(host, port)


def server_at(host: str, port: int) -> Place:
    """Return the server of this user at a port of this machine.

    Raises:
        click.ClickException: There is none.
    """
    try:
        return running_at(host, port)
    except FlintstreamError as error:
        raise click.ClickException(str(error)) from None


def _serve(host: str, port: int) -> None:
    with listening(host, port) as (found, run):
        click.echo(f"Jobs at {found.shown_address()}, until Ctrl-C", err=True)
        run()


@contextmanager
def listening(host: str, port: int, more: Sequence[Route] = ()) -> Iterator[tuple[Place, Callable[[], None]]]:
    """Listen at an address while the block runs. Yield where, and what answers until Ctrl-C.

    Raises:
        click.ClickException: The port is taken, the address is none of this machine, or a package is not there.
    """
    try:
        made, listener, found = server(Place(host, port), more)
    except FlintstreamError as error:
        raise click.ClickException(str(error)) from None
    with found.publish():
        yield found, lambda: made.run([listener])
