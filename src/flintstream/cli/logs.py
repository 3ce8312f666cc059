"""The logging of ``flintstream run``."""

from __future__ import annotations

import logging
import sys

import click

from flintstream.cli.printable import printable
from flintstream.runtime.logs import line_formatter

__all__ = ["configure_logs"]


class _Stderr(logging.Handler):
    """Writes to what is standard error at the time, which the progress line replaces."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)


def configure_logs(level: str | None, file: str | None) -> None:
    """Make the program log at this level, and to this file instead of standard error; do nothing if both are None.

    A later ``logging.basicConfig()`` of the program has no effect.

    Raises:
        click.ClickException: The file cannot be opened.
    """
    if level is None and file is None:
        return
    try:
        handler = _Stderr() if file is None else logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(printable(f"the log file {file} cannot be opened: {error.strerror}")) from None
    handler.setFormatter(line_formatter())
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(level or logging.INFO)
