"""``flintstream stubs``: stubs of ``pyflink`` for type checkers and editors."""

from __future__ import annotations

from pathlib import Path

import click

from flintstream.cli.printable import printable
from flintstream.compat.stubs import write_stubs
from flintstream.errors import FlintstreamError

__all__ = ["stubs_command"]


@click.command("stubs")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default="typings")
def stubs_command(directory: Path) -> None:
    """Write stubs of pyflink, with which type checkers and editors understand unmodified programs.

    DIRECTORY is "typings" by default, where Pyright and Pylance look. Tell mypy with mypy_path = "typings".
    """
    try:
        count = write_stubs(directory)
    except (FlintstreamError, OSError) as error:
        raise click.ClickException(printable(str(error))) from None
    click.echo(f"{count} stubs below {printable(str(directory / 'pyflink'))}")
    click.echo(f"Pyright and Pylance read them from typings; for mypy, set mypy_path = {printable(str(directory))}")
