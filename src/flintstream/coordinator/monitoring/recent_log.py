"""The last lines of the driver of a job, and of workers on its machine, for those who watch it from another process."""

from __future__ import annotations

import logging
import re
import threading
from collections import deque
from typing import Any

from flintstream.common._clock import wall_clock
from flintstream.common._text.secrets import without_secrets

KEPT_LINES, LONGEST_LINE = 500, 4_000

_OF_A_WORKER = re.compile(r"\d{4}-\d\d-\d\d \S+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) +(\S+) (.*)", re.DOTALL)
"""A line of a worker in the format that it has if the program sets none."""

Line = dict[str, Any]

_lines: deque[Line] = deque(maxlen=KEPT_LINES)
_of_workers: deque[Line] = deque(maxlen=KEPT_LINES)
"""Apart, so that a function that prints each record does not push out what the driver logs."""
_lock = threading.Lock()
_kept_by: Any = None


def keep() -> None:
    """Keep what is logged from now on, whatever the program does with it.

    This needs no handler, which would change the meaning of ``logging.basicConfig`` and the handling of warnings in a
    program without any.
    """
    global _kept_by  # noqa: PLW0603 - there is one factory in a process
    with _lock:
        before = logging.getLogRecordFactory()
        if before is _kept_by:
            return

        def make(*args: object, **more: object) -> logging.LogRecord:
            record = before(*args, **more)
            _add(record)
            return record

        _kept_by = make
        logging.setLogRecordFactory(make)


def _add(record: logging.LogRecord) -> None:
    try:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f"\n{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
    except Exception:  # noqa: BLE001 - arguments that do not fit, which logging itself reports
        return
    _lines.append(
        {
            "at_ms": int(record.created * 1000),
            "level": record.levelname,
            "logger": record.name or "root",  # a record that was not made by a logger has no name
            "text": without_secrets(text)[:LONGEST_LINE],
        }
    )


def add_of_workers(text: str) -> None:
    r"""Keep the last lines of a text that workers have written to this process.

    >>> add_of_workers("2026-11-23 20:02:45,825 INFO    my.module [counts, map 1/2, epoch 3] no price\nprinted\n")
    >>> [(line["level"], line["logger"], line["text"]) for line in lines()[-2:]]
    [('INFO', 'my.module', '[counts, map 1/2, epoch 3] no price'), ('INFO', 'worker', 'printed')]
    """
    now_ms = wall_clock()
    for line in text[-KEPT_LINES * LONGEST_LINE :].splitlines()[-KEPT_LINES:]:
        found = _OF_A_WORKER.fullmatch(line)
        level, logger, told = ("INFO", "worker", line) if found is None else found.groups()
        shown = without_secrets(told[:LONGEST_LINE])
        _of_workers.append({"at_ms": now_ms, "level": level, "logger": logger, "text": shown})


def lines(most: int = KEPT_LINES) -> list[Line]:
    """Return the last lines, the oldest first: at most so many of the driver, and of workers."""
    kept = [*list(_lines)[-most:], *list(_of_workers)[-most:]]
    return sorted(kept, key=lambda line: int(line["at_ms"]))
