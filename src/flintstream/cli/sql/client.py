"""``flintstream sql``: runs SQL from the terminal, a script or the command line."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flintstream.cli.configuration import config_option, settings_option, settings_with_file
from flintstream.cli.jobs import SETTINGS
from flintstream.cli.printable import printable
from flintstream.cli.sql.runner import QuitError, Runner, printable_lines
from flintstream.compat import pyflink
from flintstream.coordinator import client
from flintstream.errors import FlintstreamError, MissingDependencyError, optional_module
from flintstream.options.command_line import set_defaults
from flintstream.sql_gateway.sessions import Session

if TYPE_CHECKING:
    from collections.abc import Iterable

INTERRUPTED = 130


@click.command("sql", context_settings=SETTINGS)
@click.option("-e", "--execute", "statements", metavar="SQL", multiple=True, help="Run these statements, and exit.")
@click.option("-f", "--file", "script", metavar="PATH", help="Run the statements of a file, and exit.")
@click.option("-i", "--init", metavar="PATH", help="Run the statements of a file first.")
@click.option("--master", metavar="URL", help="Spark master, such as local[4] or spark://host:7077.")
@settings_option
@config_option
def sql_command(
    statements: tuple[str, ...],
    script: str | None,
    init: str | None,
    master: str | None,
    settings: dict[str, str],
    config: str | None,
) -> None:
    """Run SQL, and show the results.

    Without -e and -f, statements come from the terminal, or from standard input if it is none. The first statement that
    fails ends a script; the exit code is then 1. The command waits for the jobs of INSERT. Ctrl-C cancels them.
    """
    pyflink.install()
    merged = settings_with_file(settings, config)
    set_defaults(merged, master, None, ())
    texts = [_read(name) for name in (init, script) if name is not None] + list(statements)
    interactive = script is None and not statements and has_terminal()
    if not interactive and script is None and not statements:
        texts.append(sys.stdin.read())
    try:
        session = Session(merged)
    except MissingDependencyError as error:
        raise click.ClickException(printable(str(error))) from None
    code = 1
    try:
        if _run(session, texts):
            if interactive:
                _run_shell(session)
            client.wait_for_lasting()
            code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
        click.echo("interrupted", err=True)
    except FlintstreamError as error:
        raise click.ClickException(printable_lines(str(error))) from None
    finally:
        session.close()
        client.cancel_all()
    sys.exit(code)


def has_terminal() -> bool:
    """Tell whether a person can type statements."""
    return sys.stdin.isatty()


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(printable(f"the script {name} cannot be read: {error}")) from None


def _run(session: Session, texts: list[str]) -> bool:
    runner = Runner(session, _write)
    with suppress(QuitError):
        return all(runner.run_script(text) for text in texts)
    return True


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(printable_lines(line))


def _run_shell(session: Session) -> None:
    shell = optional_module(
        "flintstream.cli.sql.shell", package="prompt_toolkit", extra="sql", purpose="the interactive SQL client"
    )
    shell.run_shell(session)
