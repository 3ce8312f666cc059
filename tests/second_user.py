"""Runs code as another user of the machine, who must neither read nor control the jobs of the user who runs the tests.

Only root can become another user. `SKIP` is the reason to skip where that is not possible.
"""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

__all__ = ["SECOND_USER", "SKIP", "TWO_USERS", "as_second_user", "reason_to_skip", "start_as_second_user", "two_users"]

SECOND_USER = 61_234
"""The number of the user and the group. No account has it, so no file of the machine belongs to it."""


def _can_run(python: str) -> bool:
    try:
        return subprocess.run([python, "-Ic", ""], **_identity(), check=False).returncode == 0  # noqa: S603 - the interpreter of the tests or of the system
    except OSError:
        return False


def _identity() -> dict:
    return {"user": SECOND_USER, "group": SECOND_USER, "extra_groups": [], "cwd": "/"}


def _find_python() -> str | None:
    """Return an interpreter that the second user can run: a virtual environment may be in a private home directory."""
    candidates = [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3", shutil.which("python3")]
    return next((found for found in candidates if found and _can_run(found)), None)


_python = _find_python() if os.geteuid() == 0 else None


def reason_to_skip(user: int, python: str | None) -> str | None:
    """Return why a user, by number, cannot act as two users with the interpreter for the second one; None if it can."""
    if user != 0:
        return "only root can become a second user: run 'make two-users' as root, best in a container"
    return None if python else "a second user finds no Python interpreter that it may run, such as /usr/bin/python3"


SKIP = reason_to_skip(os.geteuid(), _python)


TWO_USERS = (pytest.mark.two_users, pytest.mark.skipif(SKIP is not None, reason=str(SKIP)))
"""The marks of a test, or of its parameters, that acts as two users: it is skipped where that is not possible."""


def two_users(test):
    """Mark a test that acts as two users of the machine."""
    for mark in TWO_USERS:
        test = mark(test)
    return test


def start_as_second_user(function, *args) -> subprocess.Popen[str]:
    """Start ``function(*args)`` as the second user; standard output ends with what it returns, as JSON.

    The function gets a new interpreter with the standard library only, so it imports what it needs itself. Arguments
    and result are JSON. Its process has no file, no variable and no memory of the test's process.
    """
    assert _python, SKIP
    source = textwrap.dedent(inspect.getsource(function))
    call = f"{source}\nimport json, sys\nprint(json.dumps({function.__name__}(*json.loads(sys.argv[1]))), flush=True)"
    return subprocess.Popen(  # noqa: S603 - code of a test
        [_python, "-Ic", call, json.dumps(args)],
        env={"PATH": os.defpath},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **_identity(),
    )


def as_second_user(function, *args, seconds: float = 60):
    """Return what ``function(*args)`` returns when the second user calls it (`start_as_second_user`).

    Raises:
        AssertionError: The function raised an error, which is part of the message.
    """
    with start_as_second_user(function, *args) as process:
        try:
            output, errors = process.communicate(timeout=seconds)
        except BaseException:
            process.kill()
            raise
    assert process.returncode == 0, errors
    return json.loads(output.splitlines()[-1])
