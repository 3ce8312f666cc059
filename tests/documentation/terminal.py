"""Draw the SQL client in a terminal: ``python -m tests.documentation.terminal docs/how-to/sql/client.svg``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import suppress
from html import escape
from pathlib import Path

import pexpect
import pyte

COLUMNS, ROWS = 96, 20
WIDTH, HEIGHT = 8.4, 18
COLORS = {"default": "#24292f"}
"""The names of the sixteen colors; the others are hexadecimal."""
ASKS = "\x1b\\[6n"
TYPED = (
    ("CREATE VIEW words AS SELECT * FROM (VALUES ('to'), ('be'), ('to')) AS t (word);\r", "OK"),
    ("SELECT word, COUNT(*) AS n\rFROM wor\t", "ds"),
    ("\rGROUP BY word;\r", "rows in set"),
    ("SELECT wrod FROM words;\r", r"\^"),
    ("SELECT COUNT(*) FROM words WHERE word LIKE 't%'", "LIKE"),
)
"""What is typed, and what appears then."""


def record(directory: str) -> pyte.Screen:
    """Return the screen after a session with the client."""
    environment = {**os.environ, "TERM": "xterm-256color", "HOME": directory, "XDG_STATE_HOME": directory}
    environment |= {"FLINTSTREAM_JOBS_DIR": f"{directory}/jobs", "FLINTSTREAM_HISTORY_DIR": f"{directory}/history"}
    client = pexpect.spawn(
        sys.executable,
        ["-m", "flintstream.cli", "sql", "-D", "flintstream.engine=inline", "-D", "parallelism.default=1"],
        env=environment,
        dimensions=(ROWS, COLUMNS),
        encoding="utf-8",
        timeout=30,
    )
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)

    def read_until(pattern: str) -> None:
        """Show what the client writes, and tell it where the cursor is when it asks."""
        while client.expect([ASKS, pattern]) == 0:
            stream.feed(client.before)
            client.send(f"\x1b[{screen.cursor.y + 1};{screen.cursor.x + 1}R")
        stream.feed(client.before + client.after)

    read_until("flintstream>")
    for typed, appears in TYPED:
        client.send(typed)
        read_until(appears)
    with suppress(pexpect.TIMEOUT):
        client.timeout = 1
        read_until("nothing more")
    stream.feed(client.before if isinstance(client.before, str) else "")
    client.close(force=True)
    return screen


def draw(screen: pyte.Screen) -> str:
    """Return a picture of a screen."""
    lines = []
    for y in range(ROWS):
        row = screen.buffer[y]
        spans, x = [], 0
        while x < COLUMNS:
            first, start = row[x], x
            while x < COLUMNS and (row[x].fg, row[x].bold) == (first.fg, first.bold):
                x += 1
            text = "".join(row[i].data for i in range(start, x))
            color = COLORS.get(first.fg, f"#{first.fg}")
            if text.strip():
                weight = ' font-weight="bold"' if first.bold else ""
                spans.append(
                    f'<tspan x="{16 + start * WIDTH:g}" fill="{color}"{weight}>{escape(text.rstrip())}</tspan>'
                )
        lines.append(f'<text y="{30 + y * HEIGHT}">{"".join(spans)}</text>' if spans else "")
    width, height = round(32 + COLUMNS * WIDTH), 24 + ROWS * HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#f6f8fa" stroke="#d0d7de"/>\n'
        '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">\n'
        + "\n".join(filter(None, lines))
        + "\n</g>\n</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        given.target.write_text(draw(record(directory)), encoding="utf-8")


if __name__ == "__main__":
    main()
