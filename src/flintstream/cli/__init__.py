"""Command line: ``flintstream run``, commands for running jobs and savepoints, and ``doctor``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from flintstream.cli.handing_over import ProgramReady, hand_over

__all__ = ["main"]

COMMANDS = {
    "run": "run",
    "list": "jobs",
    "metrics": "metrics",
    "savepoint": "state",
    "checkpoint": "jobs",
    "stop": "jobs",
    "rescale": "jobs",
    "cancel": "jobs",
    "logs": "watch",
    "attach": "watch",
    "state": "state",
    "rest": "rest",
    "serve": "serve",
    "check": "check",
    "ui": "rest",
    "sql": "sql.client",
    "sql-gateway": "sql.gateway",
    "config": "configuration",
    "doctor": "doctor",
    "stubs": "checking.stubs",
}
"""The module of each command. One is imported when it is needed: most of the time of a short command is for imports."""


class _Commands(click.Group):
    """The commands. A program runs after click has finished."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line."""
        if not args and "args" not in options and sys.argv[1:2] == ["run"]:
            code = hand_over(sys.argv[1:])
            if code is not None:
                sys.exit(code)
        try:
            return super().main(*args, **options)
        except ProgramReady as ready:
            start = ready.start
        return start()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"flintstream.cli.{COMMANDS[cmd_name]}")
        command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)  # noqa: S101
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole first sentence."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _summary(command)) for name, command in found if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; suggest the most similar one if there is none with this name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            nearest = get_close_matches(args[0], COMMANDS, 1) if args else []
            if nearest and "Did you mean" not in error.message:
                message = f"{error.message.rstrip('.')}. Did you mean '{nearest[0]}'?"
                raise click.UsageError(message, error.ctx) from None
            raise


def _summary(command: click.Command) -> str:
    text = " ".join((command.help or "").split("\n\n")[0].split())
    return f"{text.partition('. ')[0].rstrip('.')}."


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001 - as click calls it
    if not value or ctx.resilient_parsing:
        return
    from flintstream import __version__
    from flintstream.compat.pyflink import PYFLINK_VERSION

    click.echo(f"{ctx.find_root().info_name} {__version__} (API of PyFlink {PYFLINK_VERSION})")
    ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Run PyFlink programs on Apache Spark."""
