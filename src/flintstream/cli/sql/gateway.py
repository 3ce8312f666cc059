"""``flintstream sql-gateway``: Flink's SQL gateway, beside the REST interface for the jobs of this user."""

from __future__ import annotations

import click

from flintstream.cli.configuration import config_option, settings_option, settings_with_file
from flintstream.cli.jobs import SETTINGS
from flintstream.cli.rest import add_places, listening, server_at
from flintstream.compat import pyflink
from flintstream.options.command_line import set_defaults
from flintstream.rest.sql import sql_routes
from flintstream.sql_gateway.sessions import Gateway


@click.command("sql-gateway", context_settings=SETTINGS)
@add_places(8083)
@click.option("--master", metavar="URL", help="Spark master, such as local[4] or spark://host:7077.")
@settings_option
@config_option
@click.option(
    "--print-header-file",
    is_flag=True,
    help="Print the path of the file that holds the authorization header for your gateway at this port, and exit.",
)
def sql_gateway_command(
    host: str, port: int, master: str | None, settings: dict[str, str], config: str | None, print_header_file: bool
) -> None:
    """Run SQL for clients of Flink's SQL gateway, such as Flink's SQL client, its JDBC driver and dbt.

    Callers must send the token of the server, as with 'flintstream rest'. The statements of all sessions run in this
    process. Ctrl-C ends it, with their jobs.
    """
    if print_header_file:
        click.echo(server_at(host, port).header_file)
        return
    pyflink.install()
    merged = settings_with_file(settings, config)
    set_defaults(merged, master, None, ())
    gateway = Gateway(merged)
    try:
        with listening(host, port, sql_routes(gateway)) as (found, run):
            gateway.watch()
            click.echo(f"SQL gateway at {found.bare_address}, until Ctrl-C", err=True)
            run()
    finally:
        gateway.close_all()
