"""``flintstream ui`` and ``flintstream rest``: the web page and Flink's REST interface for the jobs of this user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flintstream.cli.jobs import SETTINGS
from flintstream.errors import FlintstreamError
from flintstream.rest.serving import Place, server

if TYPE_CHECKING:
    from collections.abc import Callable


def _places(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--token",
            envvar="FLINTSTREAM_REST_TOKEN",
            help="What callers must send as 'Authorization: Bearer ...'; needed at other addresses than 127.0.0.1.",
        ),
        click.option(
            "--port",
            type=click.IntRange(0, 65_535),
            default=8081,
            show_default=True,
            help="The port; 0 for a free one.",
        ),
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    ):
        command = option(command)
    return command


@click.command("rest", context_settings=SETTINGS)
@_places
def rest_command(host: str, port: int, token: str | None) -> None:
    """Show and steer this user's jobs on this machine over HTTP, in the form of Flink's REST interface."""
    place = Place(host, port, token or None)
    if not place.local and not place.token:
        raise click.UsageError(f"a server at {host} needs a token: set FLINTSTREAM_REST_TOKEN, or pass --token")
    _serve(place)


@click.command("ui", context_settings=SETTINGS)
@_places
def ui_command(host: str, port: int, token: str | None) -> None:
    """Show this user's jobs on this machine in a web browser, running and ended ones.

    The address is printed. At another address than 127.0.0.1 it contains a token, which is made up if none is given.
    """
    _serve(Place(host, port, token or None).with_token())


def _serve(place: Place) -> None:
    try:
        made, listener, found = server(place)
    except FlintstreamError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Jobs at {found.address()}, until Ctrl-C", err=True)
    made.run([listener])
