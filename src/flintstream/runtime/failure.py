"""Failures of user code, and their way to the driver.

A user's exception does not fail the Spark task, because Spark would run the task again with all its side effects.
The task catches it, adds the operator and the record, and sends it to the driver like any acknowledgement. The driver
raises it and applies the restart strategy.
"""

from __future__ import annotations

import operator
import os
import pickle
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.common._types.conversion import GENERATED
from flintstream.common._user_code import by_value
from flintstream.common._user_code.forks import only_one_returns
from flintstream.compiled import IN_TRACEBACKS
from flintstream.errors import add_note, as_exception, notes, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The name in our code, not __file__: it may have been compiled on another machine, as frames say.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath((lambda: 0).__code__.co_filename)))  # noqa: PTH100, PTH120


class OperatorFailure(Exception):  # noqa: N818 - an internal carrier, never shown as such
    """A user's exception with the operator and, if known, the record."""

    def __init__(self, operator_name: str, subtask: int, error: BaseException, record: str | None) -> None:
        """Record the failure."""
        super().__init__(operator_name)
        self.operator_name = operator_name
        self.subtask = subtask
        self.error = error
        self.record = record


def current_record(values: Sequence[Any], cursor: Iterator[Any] | None) -> str | None:
    """Describe the record that ``cursor``, a list iterator over ``values``, returned last."""
    if cursor is None:
        return None
    position = len(values) - operator.length_hint(cursor) - 1
    return shorten(values[position]) if 0 <= position < len(values) else None


@dataclass(frozen=True)
class FailureReport:
    """A failure on its way to the driver: plain strings and bytes, so that it can always be sent."""

    operator_name: str
    subtask: int
    record: str | None
    summary: str
    user_traceback: str
    full_traceback: str
    pickled: bytes | None

    @classmethod
    def of(cls, failure: OperatorFailure) -> FailureReport:
        """Return the report of a failure."""
        error = failure.error
        told = as_exception(error)
        try:
            pickled = by_value.dumps(error, names=False)
            pickle.loads(pickled)
        except BaseException:  # noqa: BLE001 - a user's __reduce__ may raise anything
            pickled = None
        return cls(
            operator_name=failure.operator_name,
            subtask=failure.subtask,
            record=failure.record,
            summary="".join(traceback.format_exception_only(told)).strip(),
            user_traceback=_user_frames(error),
            full_traceback="".join(traceback.format_exception(error)),
            pickled=pickled,
        )

    def where(self) -> str:
        """Describe the operator, subtask and record for messages."""
        record = f" while processing {self.record}" if self.record is not None else ""
        return f"operator '{self.operator_name}', subtask {self.subtask + 1}{record}"

    def exception(self) -> Exception | None:
        """Return the user's exception or its substitute, or None if it cannot be unpickled here."""
        if self.pickled is None:
            return None
        try:
            error = pickle.loads(self.pickled)
        except BaseException:  # noqa: BLE001 - so may __setstate__
            return None
        return as_exception(error) if isinstance(error, BaseException) else None


@contextmanager
def user_code(where: str) -> Iterator[None]:
    """Run user code in the driver: note ``where`` in its exceptions, and end processes that it has forked."""
    try:
        with only_one_returns():
            yield
    except BaseException as error:
        note = f"in {where}"
        if note not in notes(error):  # the same object may be raised again
            add_note(error, note)
        raise


def _user_frames(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = (_PACKAGE, os.path.abspath(GENERATED), os.path.abspath(IN_TRACEBACKS))  # noqa: PTH100
    users = [f for f in frames if not os.path.abspath(f.filename).startswith(ours)]  # noqa: PTH100
    lines = traceback.format_list(users or frames)
    if error.__cause__ is not None:
        lines.append(f"caused by {error.__cause__!r}\n")
    return "".join(lines)
