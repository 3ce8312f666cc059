"""``flintstream rest``: Flink's REST interface for the jobs of this user."""

from __future__ import annotations

import click

from flintstream.cli.jobs import SETTINGS
from flintstream.errors import FlintstreamError, optional_module
from flintstream.rest.app import LOOPBACK, application


@click.command("rest", context_settings=SETTINGS)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8081, show_default=True, help="The port; 0 for a free one."
)
@click.option(
    "--token",
    envvar="FLINTSTREAM_REST_TOKEN",
    help="What callers must present as 'Authorization: Bearer ...'. Required for other addresses than 127.0.0.1.",
)
def rest_command(host: str, port: int, token: str | None) -> None:
    """Show and steer this user's jobs on this machine over HTTP, in the form of Flink's REST interface."""
    local = host in {"127.0.0.1", "localhost", "::1"}
    if not local and not token:
        raise click.UsageError(f"a server at {host} needs a token: set FLINTSTREAM_REST_TOKEN, or pass --token")
    try:
        uvicorn = optional_module("uvicorn", extra="ui", purpose="the REST server")
        app = application(token or None, LOOPBACK if local else ())
    except FlintstreamError as error:
        raise click.ClickException(str(error)) from None
    uvicorn.run(app, host=host, port=port, log_level="warning", lifespan="off", server_header=False)
