"""Waiting for a service that is overloaded or away, with one warning rather than one for each request."""

from __future__ import annotations

import logging
import secrets
import time

_log = logging.getLogger(__name__)

FIRST_SECONDS = 0.1
MOST_SECONDS = 10.0
AGAIN_SECONDS = 60.0
"""How often to warn, at most."""


class Warner:
    """Warns once, and again after a minute: a service may fail with every request."""

    def __init__(self) -> None:
        """Begin without a warning."""
        self._said: float | None = None

    def warn(self, message: str, *values: object) -> None:
        """Log a warning, unless one is less than a minute old."""
        now = time.monotonic()
        if self._said is None or now - self._said >= AGAIN_SECONDS:
            self._said = now
            _log.warning(message, *values)


class Patience:
    """The delay before the next request: it doubles with each failure, and a success resets it."""

    def __init__(self, what: str, first: float = FIRST_SECONDS, most: float = MOST_SECONDS) -> None:
        """Take what is tried, for the warning, and the first and the longest delay (s)."""
        self._what, self._first, self._most = what, first, most
        self._failures = 0
        self._since = 0.0
        self._warner = Warner()

    def note_failure(self, why: str) -> float:
        """Note a failure, and return how long to wait (s)."""
        if not self._failures:
            self._since = time.monotonic()
        self._warner.warn("%s; will retry: %s", self._what, why)
        delay: float = min(self._first * 2 ** min(self._failures, 30), self._most)
        self._failures += 1
        return delay * (500 + secrets.randbelow(501)) / 1000  # several clients must not come back together

    def note_progress(self) -> None:
        """Note that the service takes some records: the delay starts over, without another warning."""
        self._failures = min(self._failures, 1)

    def note_success(self) -> None:
        """Note a success."""
        if self._failures:
            _log.info("works again after %d failures in %.1f s", self._failures, time.monotonic() - self._since)
            self._failures = 0
