"""Asking running jobs through their control channels: one, or all of them at the same time."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from contextlib import closing
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import TYPE_CHECKING, Any

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
SLOW_REQUESTS = frozenset({"savepoint", "stop", "rescale", "cancel", "wait"})


class JobGoneError(FlintstreamError):
    """The job ended before it could answer."""


class JobSilentError(FlintstreamError):
    """The process of the job exists but does not answer: it is stopped, swapped out, or very busy."""

    def __init__(self, entry: registry.Entry) -> None:
        """Name the job and its process."""
        super().__init__(f"the job '{entry.name}' (process {entry.pid}) does not answer")


def ask(entry: registry.Entry, request: str, **arguments: Any) -> Any:
    """Send a request to a job, wait for the result and return it.

    Raises:
        JobGoneError: The job has ended. An entry that its process left behind is removed.
        JobSilentError: The job does not answer.
        FlintstreamError: The job refuses the request.
    """
    try:
        with closing(_connected(entry.address)) as connection:
            key = bytes.fromhex(entry.key)
            answer_challenge(connection, key)
            deliver_challenge(connection, key)
            connection.send_bytes(json_text({"request": request, **arguments}).encode())
            if request in SLOW_REQUESTS:
                _limit(connection.fileno(), 0)
            reply = json.loads(connection.recv_bytes(LONGEST_REPLY))
    except (ConnectionRefusedError, FileNotFoundError):
        registry.remove(entry)  # the process was killed, and another one has its pid now
        raise JobGoneError(f"the job '{entry.name}' has ended") from None
    except BlockingIOError:
        raise JobSilentError(entry) from None
    except (OSError, EOFError):
        raise JobGoneError(f"the job '{entry.name}' ended before it answered") from None
    except AuthenticationError:
        raise FlintstreamError(f"the job '{entry.name}' does not accept the key of its entry") from None
    except (AssertionError, ValueError, RecursionError):
        reply = None
    if isinstance(reply, dict) and "error" in reply:
        raise FlintstreamError(str(reply["error"]))
    if not isinstance(reply, dict) or "result" not in reply:
        raise FlintstreamError(f"the job '{entry.name}' (process {entry.pid}) sent no valid reply")
    return reply["result"]


def _connected(address: str) -> Connection:
    with socket.socket(socket.AF_UNIX) as channel:
        _limit(channel.fileno(), ANSWER_SECONDS)
        channel.connect(address)  # waits while the backlog of a stopped process is full
        return Connection(os.dup(channel.fileno()))


def _limit(descriptor: int, seconds: float) -> None:
    """Limit how long each step on a socket may take, after which it raises a BlockingIOError. 0 is no limit."""
    limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1_000_000))
    with socket.socket(socket.AF_UNIX, fileno=os.dup(descriptor)) as channel:
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)


def ask_all(entries: Sequence[registry.Entry], *requests: str) -> list[list[Any] | FlintstreamError]:
    """Send requests to all jobs at the same time.

    Returns:
        For each job the results, or why there are none: an error of :func:`ask`. A job that has not answered after
        :data:`ALL_SECONDS` counts as silent.
    """
    replies: list[list[Any] | FlintstreamError] = [JobSilentError(entry) for entry in entries]

    def run(number: int, entry: registry.Entry) -> None:
        try:
            replies[number] = [ask(entry, request) for request in requests]
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
