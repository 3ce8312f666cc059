"""Command line: ``flintstream run``, commands for running jobs and savepoints, and ``doctor``."""

from __future__ import annotations

from typing import Any

import click

from flintstream import __version__
from flintstream.cli.check import check_command
from flintstream.cli.doctor import doctor_command
from flintstream.cli.jobs import cancel_command, list_command, savepoint_command, stop_command
from flintstream.cli.metrics import metrics_command
from flintstream.cli.rest import rest_command, ui_command
from flintstream.cli.run import ProgramReady, run_command
from flintstream.cli.state import state_command
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
    state_command,
    rest_command,
    check_command,
    ui_command,
    doctor_command,
):
    main.add_command(command)
