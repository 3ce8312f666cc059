"""The last lines that the driver of a job logged, for those who watch it from another process."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import Any

from flintstream.common._text.secrets import without_secrets

KEPT_LINES, LONGEST_LINE = 500, 4_000

_lines: deque[dict[str, Any]] = deque(maxlen=KEPT_LINES)
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


def lines() -> list[dict[str, Any]]:
    """Return the last lines, the oldest first."""
    return list(_lines)
