"""Progress line of a running job on the terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_WATERMARK = -(2**63)
END = 2**63 - 1


def watermark_text(watermark_ms: int) -> str:
    """Format a watermark (ms since the epoch).

    >>> watermark_text(0), watermark_text(-(2**63)), watermark_text(2**63 - 1)
    ('1970-01-01 00:00:00 UTC', 'none yet', 'end')
    """
    if watermark_ms == NO_WATERMARK:
        return "none yet"
    if watermark_ms == END:
        return "end"
    try:
        return f"{datetime.fromtimestamp(watermark_ms // 1000, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{watermark_ms} ms"


class ProgressLine:
    """Shows the latest progress; nothing before the first update."""

    def __init__(self, console: Console) -> None:
        """Show progress on ``console``."""
        # Records that the program prints to the terminal appear above the line.
        self._live = Live(
            console=console,
            transient=True,
            refresh_per_second=4,
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=True,
        )

    def update(self, epochs: int, records_in: int, records_out: int, watermark_ms: int) -> None:
        """Show totals since the job started, and the lowest watermark (ms since the epoch)."""
        if not self._live.is_started:
            self._live.start()
        text = f"epoch {epochs:,}  in {records_in:,}  out {records_out:,}  watermark {watermark_text(watermark_ms)}"
        self._live.update(Text(text, style="dim", no_wrap=True, overflow="ellipsis"))

    def close(self) -> None:
        """Remove the line."""
        self._live.stop()


@contextmanager
def progress_line() -> Iterator[ProgressLine | None]:
    """Yield a progress line for the duration of the block; None if standard error is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    line = ProgressLine(console)
    try:
        yield line
    finally:
        line.close()
