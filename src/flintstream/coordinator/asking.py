"""Asking running jobs through their control channels: one, or all of them at the same time."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flintstream.channels.channel import Endpoint, StrangerError, connect
from flintstream.common._text.strict_json import json_text
from flintstream.coordinator import registry
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_REPLY = 1 << 28
ANSWER_SECONDS = 5.0
"""Longest time in which a healthy process answers a request that needs no waiting."""
ALL_SECONDS = 1.0
"""Longest time to wait for the answers of all jobs, for a list of them."""
SLOW_REQUESTS = frozenset({"savepoint", "checkpoint", "stop", "rescale", "cancel", "wait"})


class JobGoneError(FlintstreamError):
    """The job ended before it could answer."""


class JobSilentError(FlintstreamError):
    """The process of the job exists but does not answer: it is stopped, swapped out, or very busy."""

    def __init__(self, entry: registry.Entry) -> None:
        """Name the job and its process."""
        super().__init__(f"the job '{entry.name}' (process {entry.pid}) does not answer")


def ask(entry: registry.Entry, request: str, **arguments: object) -> Any:
    """Send a request to a job, wait for the result and return it.

    Raises:
        JobGoneError: The job has ended. An entry that its process left behind is removed.
        JobSilentError: The job does not answer.
        FlintstreamError: The job refuses the request.
    """
    reply = None
    try:
        with connect(Endpoint(entry.address, bytes.fromhex(entry.key)), ANSWER_SECONDS) as channel:
            channel.send(json_text({"request": request, **arguments}).encode())
            seconds = None if request in SLOW_REQUESTS else ANSWER_SECONDS
            data = channel.receive(longest=LONGEST_REPLY, seconds=seconds)
        if data is None:
            raise JobGoneError(f"the job '{entry.name}' ended before it answered")
        with suppress(ValueError, RecursionError):
            reply = json.loads(data)
    except StrangerError:
        raise FlintstreamError(f"the job '{entry.name}' rejects the key in its entry") from None
    except (ConnectionRefusedError, FileNotFoundError):
        registry.remove(entry)  # the process was killed, and another one has its pid now
        raise JobGoneError(f"the job '{entry.name}' has ended") from None
    except TimeoutError:
        raise JobSilentError(entry) from None
    except (OSError, ValueError):  # ValueError: no path of a socket
        raise JobGoneError(f"the job '{entry.name}' ended before it answered") from None
    if isinstance(reply, dict) and "error" in reply:
        raise FlintstreamError(str(reply["error"]))
    if not isinstance(reply, dict) or "result" not in reply:
        raise FlintstreamError(f"the job '{entry.name}' (process {entry.pid}) sent no valid reply")
    return reply["result"]


def ask_all(
    entries: Sequence[registry.Entry], *requests: str, **arguments: object
) -> list[list[Any] | FlintstreamError]:
    """Send requests, with the same arguments, to all jobs at the same time.

    Returns:
        For each job the results, or why there are none: an error of :func:`ask`. A job that has not answered after
        :data:`ALL_SECONDS` counts as silent.
    """
    replies: list[list[Any] | FlintstreamError] = [JobSilentError(entry) for entry in entries]

    def run(number: int, entry: registry.Entry) -> None:
        try:
            replies[number] = [ask(entry, request, **arguments) for request in requests]
        except FlintstreamError as error:
            replies[number] = error

    threads = [
        threading.Thread(target=run, args=place, name="flintstream-ask", daemon=True) for place in enumerate(entries)
    ]
    until = time.monotonic() + ALL_SECONDS
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return list(replies)
