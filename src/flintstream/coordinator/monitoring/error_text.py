"""Errors of jobs as text."""

from __future__ import annotations

from flintstream.common._text.secrets import without_secrets
from flintstream.errors import UserCodeError, message_of

LONGEST_ERROR = 10_000
"""How many characters of an error are kept."""


def describe(error: BaseException) -> str:
    """Return type and message of an error, and for one of user code operator, record and frames; without secrets.

    >>> describe(ValueError("no price"))
    'ValueError: no price'
    """
    cause = error.__cause__
    text = f"{type(error).__name__}: {message_of(error)}" + (f"\n{cause}" if isinstance(cause, UserCodeError) else "")
    return without_secrets(text)[:LONGEST_ERROR]
