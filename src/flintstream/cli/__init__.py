"""Command line: ``flintstream run``, commands for running jobs and savepoints, and ``doctor``."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import click

from flintstream import __version__
from flintstream.cli.check import check_command
from flintstream.cli.configuration import config_command
from flintstream.cli.doctor import doctor_command
from flintstream.cli.jobs import cancel_command, list_command, savepoint_command, stop_command
from flintstream.cli.metrics import metrics_command
from flintstream.cli.rest import rest_command, ui_command
from flintstream.cli.run import ProgramReady, run_command
from flintstream.cli.state import state_command
from flintstream.cli.watch import attach_command, logs_command
from flintstream.compat.pyflink import PYFLINK_VERSION

__all__ = ["main"]


class _Commands(click.Group):
    """The commands. A program runs after click has finished."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line."""
        try:
            return super().main(*args, **options)
        except ProgramReady as ready:
            start = ready.start
        return start()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole first sentence."""
        rows = [(name, _summary(self.commands[name])) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; suggest the most similar one if there is none with this name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            nearest = get_close_matches(args[0], self.commands, 1) if args else []
            if nearest and "Did you mean" not in error.message:
                message = f"{error.message.rstrip('.')}. Did you mean '{nearest[0]}'?"
                raise click.UsageError(message, error.ctx) from None
            raise


def _summary(command: click.Command) -> str:
    text = " ".join((command.help or "").split("\n\n")[0].split())
    return f"{text.partition('. ')[0].rstrip('.')}."


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message=f"%(prog)s %(version)s (API of PyFlink {PYFLINK_VERSION})")
def main() -> None:
    """Run PyFlink DataStream programs on Apache Spark."""


for command in (
    run_command,
    list_command,
    metrics_command,
    savepoint_command,
    stop_command,
    cancel_command,
    logs_command,
    attach_command,
    state_command,
    rest_command,
    check_command,
    ui_command,
    config_command,
    doctor_command,
):
    main.add_command(command)
