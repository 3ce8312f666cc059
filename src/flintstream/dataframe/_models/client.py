"""Calls of an endpoint with the interface of OpenAI: many at once, at a rate, and again after errors."""

from __future__ import annotations

import json
import random
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Answers after which the same call may work later."""


class ModelError(FlintstreamError):
    """An endpoint answered with an error, or not at all.

    >>> ModelError("the endpoint failed")
    ModelError('the endpoint failed')
    """


@dataclass(frozen=True)
class Limits:
    """How a subtask calls an endpoint."""

    timeout: float = 60.0
    """The most seconds that an answer takes."""
    retries: int = 3
    """How often a call is repeated."""
    backoff: float = 0.5
    """The seconds before the first repetition; each further one waits twice as long."""
    longest_backoff: float = 30.0
    """The most seconds before one."""
    calls: int = 8
    """The most calls at once."""
    rate: float | None = None
    """The most calls per second; None for any number."""
    on_error: str = "FAILOVER"
    """FAILOVER fails the job after the last repetition; IGNORE makes the result None."""


class Rate:
    """Spreads calls of a process so that there are only so many in a second."""

    def __init__(self, per_second: float | None, sleep: Callable[[float], object] = time.sleep) -> None:
        """Take the number; None for any."""
        self._gap = 0.0 if per_second is None else 1.0 / per_second
        self._next = 0.0
        self._lock = threading.Lock()
        self._sleep = sleep

    def wait(self) -> None:
        """Wait for the turn of the next call."""
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = begin + self._gap
        if begin > now:
            self._sleep(begin - now)


class _KeepTarget(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the key is for the endpoint alone."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass
class Client:
    """Calls one endpoint."""

    endpoint: str
    key: str = field(repr=False)
    limits: Limits = field(default_factory=Limits)
    sleep: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        """Check the endpoint.

        Raises:
            ValueError: It is not a URL of HTTP.
        """
        if not self.endpoint.startswith(("http://", "https://")):
            raise ValueError(f"endpoint must be an http or https URL, got {self.endpoint!r}")
        self._rate = Rate(self.limits.rate, self.sleep)
        self._opener = urllib.request.build_opener(_KeepTarget)

    def call_all(self, bodies: Sequence[Mapping[str, object]]) -> list[Mapping[str, object] | None]:
        """Return the answers to several calls, in their order.

        Raises:
            ModelError: One failed for good.
        """
        if len(bodies) <= 1 or self.limits.calls == 1:
            return [self.call(body) for body in bodies]
        with ThreadPoolExecutor(min(self.limits.calls, len(bodies))) as pool:
            return list(pool.map(self.call, bodies))

    def call(self, body: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return the answer to a call, which is repeated after errors that may pass.

        Raises:
            ModelError: It failed for good, and the limits do not ignore it.
        """
        for attempt in range(self.limits.retries + 1):
            self._rate.wait()
            try:
                return self._post(body)
            except urllib.error.HTTPError as error:
                problem, again = f"{error.code} {error.reason}: {self._show(error)}", error.code in _AGAIN
                wanted = error.headers.get("Retry-After", "")
                error.close()
            except (OSError, ValueError) as error:
                problem, again, wanted = f"{type(error).__name__}: {error}", True, ""
            if not again or attempt == self.limits.retries:
                break
            self.sleep(self._pause(attempt, wanted))
        if self.limits.on_error == "IGNORE":
            return None
        raise ModelError(f"{self.endpoint} failed: {self._without_key(problem)}")

    def _post(self, body: Mapping[str, object]) -> Mapping[str, object]:
        request = urllib.request.Request(
            self.endpoint,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
        )
        with self._opener.open(request, timeout=self.limits.timeout) as answer:
            found = json.load(answer)
        if not isinstance(found, dict):
            raise ValueError("the response is not a JSON object")
        return found

    def _pause(self, attempt: int, wanted: str) -> float:
        """Return how long to wait: what the endpoint says, or twice as long each time, with some chance."""
        if wanted.isdigit():
            return min(float(wanted), self.limits.longest_backoff)
        longest: float = min(self.limits.backoff * 2.0**attempt, self.limits.longest_backoff)
        return longest * (0.5 + random.random() / 2)

    @staticmethod
    def _show(error: urllib.error.HTTPError) -> str:
        try:
            return error.read(500).decode("utf-8", "replace")
        except OSError:
            return ""

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "******") if self.key else text
